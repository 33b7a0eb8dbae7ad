// GeographicLib speaks C++; Swift reads the C functions of the header. Nothing here throws: the library throws only for
// ellipsoids that can't be, and not a number gives not a number.

#include "CGeodesic.h"

#include <GeographicLib/Geodesic.hpp>
#include <GeographicLib/GeodesicLine.hpp>

using GeographicLib::Geodesic;
using GeographicLib::GeodesicLine;

double billow_geodesic_length(double from_longitude, double from_latitude, double to_longitude, double to_latitude,
                              double *bearing) {
    double metres, arrival;
    Geodesic::WGS84().Inverse(from_latitude, from_longitude, to_latitude, to_longitude, metres, *bearing, arrival);
    return metres;
}

void billow_geodesic_points(double longitude, double latitude, double bearing, const double *metres, size_t count,
                            BillowGeodesicPoint *points) {
    const GeodesicLine line(Geodesic::WGS84(), latitude, longitude, bearing,
                            GeodesicLine::LATITUDE | GeodesicLine::LONGITUDE | GeodesicLine::AZIMUTH |
                                GeodesicLine::DISTANCE_IN);
    for (size_t i = 0; i < count; i++)
        line.Position(metres[i], points[i].latitude, points[i].longitude, points[i].bearing);
}
