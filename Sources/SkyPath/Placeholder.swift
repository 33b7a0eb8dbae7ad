// SkyPath
