/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes inputs for fuzz_session and fuzz_core of a real session: of a small one, whose tables fit
 * into those of test_image.h, on a machine of IMAGE_RINGS CPUs.
 *
 *	KTR_KEEP_SESSION=1 KTR_ENTRIES=256 KTR_MASK=all KTR_SESSION=seed ./program
 *	pack /dev/shm/ktr-UID/seed.ktr session.seed core.seed
 */
#include "tests/fuzz/session_chunks.h"
#include "tests/unit/core_image.h"

#include "ktr/session/session_map.h"

static FILE *pack_create(const char *path)
{
	FILE *to = fopen(path, "wb");

	if (!to) {
		perror(path);
		exit(1);
	}
	return to;
}

static void pack_copy(const struct ktr__session_map *map, struct image *image, unsigned region)
{
	const struct ktr_region *from = &map->header.region[region];
	const struct ktr_region *to = &image->header->region[region];
	uint64_t n = from->bytes < to->bytes ? from->bytes : to->bytes;

	if (from->row_bytes == to->row_bytes)
		ktr__map_read(map, from->offset, image_region(image, region), n);
}

/* Rings lie anew, each where 2,048 entries have room. */
static void pack_ring(const struct ktr__session_map *map, struct image *image, unsigned ring)
{
	struct ktr_ring row;
	uint64_t offset;
	unsigned log2;

	if (ktr__map_ring(map, ring, &row) ||
	    ktr__geom_check(&map->header, row.geom, &offset, &log2) || log2 > 11)
		return;
	*image_ring(image, ring) = row;
	image_ring_open(image, ring, log2, ring * 2, 1);
	ktr__map_read(map, offset,
		      (char *)image_region(image, KTR_REGION_data) + ring * 2 * KTR_SESSION_ALIGN,
		      (size_t)KTR_ENTRY_BYTES << log2);
}

static void pack_session(const struct image *image, const char *path)
{
	FILE *to = pack_create(path);

	putc(FUZZ_HEADER, to);
	fwrite(image->header, sizeof(*image->header), 1, to);
	for (unsigned i = 0; i < KTR_REGIONS; i++) {
		const char *bytes = image_region(image, i);
		static const char empty[64];

		for (uint32_t at = 0; at < image->header->region[i].bytes / 64 && at < 65536;
		     at++) {
			struct session_chunk chunk = { (uint8_t)i, 63, (uint16_t)at };

			if (memcmp(bytes + 64 * at, empty, 64) == 0)
				continue;
			fwrite(&chunk, sizeof(chunk), 1, to);
			fwrite(bytes + 64 * at, 64, 1, to);
		}
	}
	fclose(to);
}

/* What the core has: the header, the tables without their ends, and one ring. */
static unsigned pack_pieces(const struct image *image, struct core_piece *piece)
{
	uint64_t data = image->header->region[KTR_REGION_data].offset;
	unsigned n = 0;

	piece[n++] = (struct core_piece){ CORE_BASE, image->bytes, sizeof(*image->header) };
	for (unsigned i = 0; i < KTR_REGION_data; i++) {
		const struct ktr_region *region = &image->header->region[i];
		uint64_t bytes = region->bytes;

		while (i != KTR_REGION_ring && bytes && !image->bytes[region->offset + bytes - 1])
			bytes--;
		piece[n++] = (struct core_piece){ CORE_BASE + region->offset,
						  image->bytes + region->offset, bytes };
	}
	piece[n++] = (struct core_piece){ CORE_BASE + data, image->bytes + data,
					  (uint64_t)KTR_ENTRY_BYTES
						  << KTR_GEOM_LOG2(image_ring(image, 0)->geom) };
	return n;
}

static void pack_core(const struct image *image, const char *path)
{
	struct core_piece piece[KTR_REGIONS + 1];
	FILE *to = pack_create(path);
	unsigned char *bytes;
	size_t n;

	for (unsigned i = 1; i < 2 * IMAGE_RINGS; i++)
		image_ring(image, i)->geom = image_ring(image, i)->head = 0;
	bytes = core_make(piece, pack_pieces(image, piece), "/gone.ktr (deleted)", 1, &n);
	fwrite(bytes, n, 1, to);
	free(bytes);
	fclose(to);
}

int main(int argc, char **argv)
{
	struct ktr__session_map map;
	struct image image;
	struct ktr_region *ring;

	if (argc != 4 || ktr__map_open(argv[1], 0, &map, NULL)) {
		fprintf(stderr, "usage: pack SESSION-FILE SESSION-SEED CORE-SEED\n");
		return 2;
	}
	image_make(&image, "seed");
	image.header->clock = map.header.clock;
	image.header->ticks_per_s = map.header.ticks_per_s;
	memcpy(image.header->uuid, map.header.uuid, sizeof(map.header.uuid));
	for (unsigned i = 0; i < KTR_REGION_ring; i++)
		pack_copy(&map, &image, i);
	/* No more than the rings: a core holds all of them, or is not taken for one that has the session. */
	ring = &image.header->region[KTR_REGION_ring];
	ring->bytes = (uint64_t)ring->n_rows * ring->row_bytes;
	for (unsigned i = 0; i < 2 * IMAGE_RINGS; i++)
		pack_ring(&map, &image, i);
	pack_session(&image, argv[2]);
	pack_core(&image, argv[3]);
	return 0;
}
