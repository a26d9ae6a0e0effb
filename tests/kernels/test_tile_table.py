"""Which tile a shape gets."""

from isotherm.kernels.linear.tiles import UNTUNED, TileTable, load_table

H200 = load_table("NVIDIA H200")


def test_a_tuned_shape_has_its_own_tiles_and_others_those_of_the_most_alike() -> None:
    assert H200.tile(1, 12352, 2560) == H200.shapes[12352, 2560][0][1] != H200.tile(1, 12352, 2048)
    assert H200.tile(9000, 12352, 3072) == H200.tile(9000, 12352, 2560) != UNTUNED[2][1]
    assert H200.tile(9000, 18432, 5120) == H200.shapes[16480, 5120][-1][1]


def test_small_and_odd_shapes_and_other_cards_are_untuned() -> None:
    for table, n, k in (
        (H200, 100, 2048),
        (H200, 2048, 96),
        (load_table("a card"), 12352, 2048),
        (TileTable({}, {}), 512, 512),
    ):
        assert [table.tile(rows, n, k) for rows in (1, 16, 17, 64, 65, 9999)] == [UNTUNED[i // 2][1] for i in range(6)]


def test_every_tile_of_the_table_fits_the_card() -> None:
    assert all(tile.shared_memory <= 227 << 10 for rows in H200.shapes.values() for _, tile in rows)
