"""Starts the engine's process, loads the text room meanwhile, and serves until interrupted."""

import asyncio
import dataclasses
import logging
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from isotherm.core.config import EngineConfig
from isotherm.engine.process import EngineProcess
from isotherm.model.hf_config import read_json
from isotherm.model.source import locate
from isotherm.server.app import create_app
from isotherm.server.auth import warn_if_exposed
from isotherm.server.config import ServerConfig
from isotherm.server.defaults import SamplingDefaults
from isotherm.text.chat import ChatTemplate
from isotherm.text.tokenizer import Tokenizer

log = logging.getLogger("isotherm")


def launch(config: EngineConfig, server: ServerConfig, revision: str | None, chat_template: Path | None) -> None:
    """Blocks until the server ends. Raises ConfigError or CheckpointError when it cannot start."""
    warn_if_exposed(server)
    folder = locate(config.model.path, revision)
    tokenizer = Tokenizer.load(folder)
    engine = EngineProcess(config, folder, tokenizer.vocabulary)
    template = ChatTemplate.load(folder, tokenizer, chat_template)
    generation = folder / "generation_config.json"
    if generation.is_file():
        defaults = SamplingDefaults.from_generation_config(read_json(generation))
        server = dataclasses.replace(server, default_sampling=defaults)
    info = engine.wait_ready()
    log.info("build %s", " ".join(f"{name}={value}" for name, value in info.build.items()))
    log.info(
        "context %d tokens, %d blocks of 64, %d state slots, prefix caching %s",
        info.max_model_len,
        info.blocks,
        info.slots,
        "on" if info.prefix_caching else "off",
    )
    app = create_app(engine, tokenizer, template, server)
    log.info("serving %s at http://%s:%d/v1", server.served_model_names[0], server.host, server.port)
    asyncio.run(_serve(app, engine, server))


async def _serve(app: FastAPI, engine: EngineProcess, server: ServerConfig) -> None:
    engine.attach()
    settings = uvicorn.Config(app, host=server.host, port=server.port, log_level="warning", access_log=False)
    await uvicorn.Server(settings).serve()
