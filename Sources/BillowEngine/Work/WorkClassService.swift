package import ServiceLifecycle

/// Runs a service on the threads of a work class.
package struct WorkClassService: Service {
    let service: any Service
    let workClass: WorkClass
    package let work: WorkExecutor

    package init(service: any Service, workClass: WorkClass, work: WorkExecutor) {
        self.service = service
        self.workClass = workClass
        self.work = work
    }

    package func run() async throws { try await work.reserve(workClass) { try await service.run() } }
}
