#ifndef BILLOW_CH3_SHIM_H
#define BILLOW_CH3_SHIM_H

#include <h3/h3api.h>

/// The newer dissolve of libh3 4.5.0: exported by the library, not yet declared in its header.
/// Source: uber/h3 v4.5.0, src/h3lib/lib/cellsToMultiPoly.c
H3Error cellsToMultiPolygon(const H3Index *cells, int64_t count, GeoMultiPolygon *out);
void destroyGeoMultiPolygon(GeoMultiPolygon *polygon);

#endif
