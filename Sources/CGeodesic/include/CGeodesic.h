#ifndef BILLOW_CGEODESIC_H
#define BILLOW_CGEODESIC_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A point of a geodesic, in degrees; the bearing on which it goes on is clockwise from north, -180 to 180.
typedef struct {
    double longitude;
    double latitude;
    double bearing;
} BillowGeodesicPoint;

/// The length of the shortest way on WGS 84 in metres, and the bearing at its start, -180 to 180 degrees.
double billow_geodesic_length(double from_longitude, double from_latitude, double to_longitude, double to_latitude,
                              double *bearing);

/// The points of one geodesic after `count` distances in metres.
void billow_geodesic_points(double longitude, double latitude, double bearing, const double *metres, size_t count,
                            BillowGeodesicPoint *points);

#ifdef __cplusplus
}
#endif

#endif
