"""The socket that a server listens on."""

import asyncio
import socket

from isotherm.cli.launch import bind


def test_a_streams_second_part_does_not_wait_for_the_first_to_be_acknowledged() -> None:
    """Nagle's algorithm would hold it for the 40 ms after which a client acknowledges."""

    async def accepted() -> int:
        seen: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            connection = writer.get_extra_info("socket")
            seen.set_result(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        listener = bind("127.0.0.1", 0)
        async with await asyncio.start_server(answer, sock=listener):
            _, writer = await asyncio.open_connection(*listener.getsockname())
            writer.close()
            return await seen

    assert asyncio.run(accepted())
