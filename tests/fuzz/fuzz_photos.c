/* fuzz_photos.c - any settings and annotations as a data set of pictures: either one sentence, or ECs whose pictures are there.
 * Three texts before the annotations: data.tasks, data.against, data.induced. The first byte says which pool, and
 * with its highest bit that the file says the splits. The only picture that exists is called "p". fuzz: -max_len=1024 */
#include "fuzz/fuzz_file.h"

#include "spotter/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static spot_ec ec;
    static char tasks[256], against[64], induced[1024];
    spot_photos_config cfg = spot_photos_defaults();
    spot_ctx c = { .threads = 1 };
    spot_photos *p;

    if (!size) return 0;
    cfg.pool = *data % 4;
    cfg.splits = *data >> 7 ? SPOT_SPLITS_BY_FILE : SPOT_SPLITS_BY_SHARE;
    cfg.pair_least = 1;
    cfg.val = cfg.test = 0.3;
    data++, size--;
    fuzz_text(tasks, sizeof tasks, &data, &size);
    fuzz_text(against, sizeof against, &data, &size);
    fuzz_text(induced, sizeof induced, &data, &size);
    cfg.tasks = tasks, cfg.against = against, cfg.induced = induced;
    cfg.images = "pictures";
    cfg.coco = "coco.json";
    fuzz_file(0, "coco.json", data, size);
    fuzz_file(1, "pictures/p", "", 0);
    if (spot_photos_open(&c, &p, &cfg, 1)) {
        fuzz_said(&c);
    } else {
        for (uint32_t i = 0; i < 3 && !spot_photos_ec(&c, &ec, p, i); i++)
            for (int k = 0; k < SPOT_SPLITS; k++)
                if (ec.images[k] < 1) abort();
    }
    spot_photos_close(p);
    return 0;
}
