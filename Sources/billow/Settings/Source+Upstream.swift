import AviationWeather
import BillowStore
import BillowSync
import OpenSky
import SkyPath

extension Settings.Source {
    /// The upstream that fetches this source into the store.
    func upstream(store: any Store, clients: UpstreamClients, retentionSeconds: Int) throws -> any Upstream {
        switch kind {
        case .skyPath(let skyPath):
            return SkyPathUpstream(
                id: id, client: try SkyPathClient(configuration: skyPath.configuration, httpClient: clients.standard),
                api: skyPath.api, query: skyPath.query, simulated: simulated, store: store,
                retentionSeconds: retentionSeconds)
        case .aviationWeather(let weather):
            return AviationWeatherUpstream(
                id: id,
                client: try AviationWeatherClient(configuration: weather.configuration, httpClient: clients.standard),
                products: weather.products, areas: weather.areas, spacingSeconds: weather.spacingSeconds,
                simulated: simulated, store: store, retentionSeconds: retentionSeconds)
        case .openSky(let openSky):
            return OpenSkyUpstream(
                id: id, client: try OpenSkyClient(configuration: openSky.configuration, httpClient: clients.standard),
                boxes: openSky.boxes, simulated: simulated, store: store, retentionSeconds: retentionSeconds)
        case .noaa(let noaa):
            return NOAAUpstream(
                id: id, configuration: noaa.configuration, plan: noaa.plan, httpClient: clients.guidance,
                work: clients.work, simulated: simulated, store: store)
        case .billow(let billow):
            return BillowUpstream(
                id: id, server: try BillowClient(configuration: billow.configuration, httpClient: clients.mirrors),
                datasets: billow.datasets,
                events: try billow.eventSpacing.map { spacing in
                    try MirrorListener(
                        configuration: billow.configuration, datasets: billow.datasets, spacing: spacing,
                        httpClient: clients.events)
                }, simulated: simulated, store: store, retentionSeconds: retentionSeconds)
        case .inbox(let inbox):
            return InboxUpstream(
                id: id, path: inbox.path, simulated: simulated, store: store, retentionSeconds: retentionSeconds,
                now: SystemClock.now, work: clients.work)
        }
    }
}
