import AsyncHTTPClient
import AviationWeather
import BillowStore
import BillowSync
import OpenSky
import SkyPath

extension Settings.Source {
    /// What asks this source and writes to the store.
    func upstream(store: any Store, httpClient: HTTPClient, retentionSeconds: Int) throws -> any Upstream {
        switch kind {
        case .skyPath(let skyPath):
            return SkyPathUpstream(
                id: id, client: try SkyPathClient(configuration: skyPath.configuration, httpClient: httpClient),
                api: skyPath.api, query: skyPath.query, simulated: simulated, store: store,
                retentionSeconds: retentionSeconds)
        case .aviationWeather(let weather):
            return AviationWeatherUpstream(
                id: id,
                client: try AviationWeatherClient(configuration: weather.configuration, httpClient: httpClient),
                products: weather.products, areas: weather.areas, spacingSeconds: weather.spacingSeconds,
                simulated: simulated, store: store, retentionSeconds: retentionSeconds)
        case .openSky(let openSky):
            return OpenSkyUpstream(
                id: id, client: try OpenSkyClient(configuration: openSky.configuration, httpClient: httpClient),
                boxes: openSky.boxes, simulated: simulated, store: store, retentionSeconds: retentionSeconds)
        case .inbox(let inbox):
            return InboxUpstream(
                id: id, path: inbox.path, simulated: simulated, store: store, retentionSeconds: retentionSeconds,
                now: SystemClock.now)
        }
    }
}
