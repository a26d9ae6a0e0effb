"""llama.cpp's server out of the `xllamacpp` wheel, which has no command of its own.

python llama_serve.py MODEL.gguf --port 8080 [--slots 1] [--context 32768] [--threads 2] [--ubatch 512]
"""

import argparse
import signal

import xllamacpp


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("gguf")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--slots", type=int, default=1, help="requests at once")
    parser.add_argument("--context", type=int, default=32768, help="tokens a slot")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--ubatch", type=int, default=512, help="tokens a pass")
    options = parser.parse_args()
    params = xllamacpp.CommonParams()
    params.model.path = options.gguf
    params.hostnames, params.port = ["127.0.0.1"], options.port
    params.n_ctx, params.n_parallel = options.context * options.slots, options.slots
    params.n_ubatch = options.ubatch
    params.n_batch = max(params.n_batch, options.ubatch)
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = options.threads
    params.use_jinja = True
    server = xllamacpp.Server(params)
    print("listening at", server.listening_address, flush=True)
    signal.sigwait({signal.SIGTERM, signal.SIGINT})


if __name__ == "__main__":
    main()
