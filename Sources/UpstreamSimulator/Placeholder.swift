// UpstreamSimulator
