/* shard.c - the range of units that a shard owns. */
#include "spotter/work.h"

/* A shard that is cut again keeps its range: shards I*G to I*G + G - 1 of N*G together own the units of shard I of N. */
void spot_shard_range(int *from, int *to, int shard, int shards, int units)
{
    *from = (int)((long long)shard * units / shards);
    *to = (int)((shard + 1LL) * units / shards);
}
