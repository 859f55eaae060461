/* shard.c - the range of units that a shard owns. */
#include "spotter/work.h"

/* Cut again into parts, a shard's parts are its own range: shards I*G to I*G + G - 1 of N*G own what shard I of N does. */
void spot_shard_range(int *from, int *to, int shard, int shards, int units)
{
    *from = (int)((long long)shard * units / shards);
    *to = (int)((shard + 1LL) * units / shards);
}
