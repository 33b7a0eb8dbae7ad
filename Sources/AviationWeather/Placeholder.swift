// AviationWeather
