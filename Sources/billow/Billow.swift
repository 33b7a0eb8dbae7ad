import ArgumentParser
import AsyncHTTPClient
import BillowServer
import Configuration
import Hummingbird

@main
struct Billow: AsyncParsableCommand {
    func run() async throws {}
}
