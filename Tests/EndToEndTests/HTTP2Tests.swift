import Foundation
import TestSupport
import Testing

@Suite("HTTP/2 over TLS, by curl and frame by frame")
struct HTTP2Tests: SecureSuite {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try makeCertificate("one")
    }

    // MARK: Clients

    /// What curl writes, with a certificate that it trusts.
    private func curl(_ arguments: String...) async throws -> String {
        let all = ["--silent", "--cacert", folder.path("one.pem"), "--max-time", "300"] + arguments
        return try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Result { try Program.run("curl", all).output }) }
        }
    }

    private func url(_ server: SecureServer, _ path: String) -> String { "https://127.0.0.1:\(server.port)\(path)" }

    /// A client that writes frames as `code` says.
    ///
    /// Source: RFC 9113 section 4.1 (frames); RFC 7541 sections 5 and 6.2.2 (fields as literals)
    private func frames(_ server: SecureServer, _ code: String) async throws -> String {
        try await client(server, Self.framing + "\n" + code)
    }

    private static let framing = #"""
        import struct
        c.set_alpn_protocols(["h2"])
        address=raw.getpeername()
        DATA,HEADERS,RST_STREAM,SETTINGS,PING,GOAWAY,WINDOW_UPDATE,CONTINUATION=0,1,3,4,6,7,8,9
        def frame(kind,flags,stream,payload=b""):
            return struct.pack(">I",len(payload))[1:]+bytes([kind,flags])+struct.pack(">I",stream)+payload
        def number(value):
            if value<127: return bytes([value])
            value-=127; out=bytearray([127])
            while value>=128: out.append(value%128+128); value//=128
            return bytes(out)+bytes([value])
        def text(value): return number(len(value))+value.encode()
        def fields(*pairs): return b"".join(b"\0"+text(name)+text(value) for name,value in pairs)
        def header(path,method="GET",more=()):
            return fields((":method",method),(":scheme","https"),(":path",path),(":authority","localhost"),*more)
        def request(stream,path,end=True,**rest):
            return frame(HEADERS,4|end,stream,header(path,**rest))
        def connect(settings=b""):
            r=socket.create_connection(address); r.settimeout(300); s=c.wrap_socket(r)
            s.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"+frame(SETTINGS,0,0,settings))
            # The server's settings are in force when they are acknowledged.
            for kind,flags,stream,payload in received(s):
                if kind==SETTINGS and not flags&1: break
            s.sendall(frame(SETTINGS,1,0))
            return s
        def exactly(s,count):
            data=b""
            while len(data)<count:
                part=s.recv(count-len(data))
                if not part: raise EOFError
                data+=part
            return data
        def received(s):
            try:
                while True:
                    head=exactly(s,9)
                    yield head[3],head[4],int.from_bytes(head[5:],"big"),exactly(s,int.from_bytes(head[:3],"big"))
            except (EOFError,ssl.SSLError,ConnectionError): pass
        def body(s,stream):
            data=b""
            for kind,flags,of,payload in received(s):
                if of==stream and kind==DATA: data+=payload
                if of==stream and (kind==RST_STREAM or kind in (DATA,HEADERS) and flags&1): break
            return data.decode()
        def code(kind,payload): return int.from_bytes(payload[4:8] if kind==GOAWAY else payload,"big")
        def send(s,data):
            try: s.sendall(data); return True
            except (ssl.SSLError,ConnectionError): return False
        """#

    /// Whether another client is answered.
    private func isAlive(_ server: SecureServer) async throws -> Bool {
        try await curl("--http2", url(server, "/healthz")) == #"{"status":"ok"}"#
    }

    // MARK: Answers

    @Test("a client chooses its protocol, and the answers are the same")
    func answers() async throws {
        let server = try await start(["BILLOW_ACCESS_LOG": "true"])
        let version = ["--write-out", " %{http_version} %{http_code}"]
        for (option, name) in [("--http2", "2"), ("--http1.1", "1.1")] {
            #expect(
                try await curl(option, version[0], version[1], url(server, "/healthz"))
                    == #"{"status":"ok"} \#(name) 200"#)
            #expect(
                try await curl(
                    option, "--head", "--output", "/dev/null", version[0], version[1], url(server, "/styles"))
                    == " \(name) 200")
            let unknown = try await curl(option, version[0], version[1], url(server, "/nothing"))
            #expect(unknown.contains(#""code":"no-such-route""#) && unknown.hasSuffix(" \(name) 404"))
            let document = try await curl(option, url(server, "/tiles/hexagons.json"))
            #expect(document.contains("https://127.0.0.1:\(server.port)/tiles/hexagons/"))
            // A body in both directions, and one that is refused before it is read.
            let alerts = try await curl(
                option, "--data", "{", version[0], version[1], url(server, "/alerts"))
            #expect(alerts.hasSuffix(" \(name) 400"), "\(alerts)")
            let ingest = try await curl(
                option, "--data-binary", "@\(Repository.florida)", version[0], version[1], url(server, "/observations"))
            #expect(ingest.hasSuffix(" \(name) 401"), "\(ingest)")
        }
        let etag = try await curl("--http2", "--head", url(server, "/tiles/hexagons/latest/1/0/0.png"))
            .split(separator: "\r\n").first { $0.hasPrefix("etag: ") }.orMissing("an entity tag").dropFirst(6)
        let same = try await curl(
            "--http2", "--header", "If-None-Match: \(etag)", version[0], version[1],
            url(server, "/tiles/hexagons/latest/1/0/0.png"))
        #expect(same == " 2 304")
        // A megabyte, beyond every window.
        let large = try await curl(
            "--http2", "--output", folder.path("large"), version[0], version[1],
            url(server, "/vendor/maplibre/maplibre-gl.js"))
        #expect(large == " 2 200")
        let original = try Data(
            contentsOf: Repository.folder.appending(path: "Public/vendor/maplibre/maplibre-gl.js"))
        #expect(try Data(contentsOf: folder.url.appending(path: "large")) == original)
        try await stop(server)
        let log = try server.command.standardError
        #expect(log.components(separatedBy: "/healthz").count == 3, "\(log)")
        #expect(!log.contains("error"), "\(log)")
    }

    @Test("a hundred tiles of one connection are equal, and the microcache answers most")
    func tiles() async throws {
        let server = try await start()
        let out = try await frames(
            server,
            #"""
            s=connect(); bodies={}; ended=0; answers=received(s)
            for start in range(0,100,10):
                s.sendall(b"".join(request(1+2*i,"/tiles/hexagons/latest/1/0/0.png") for i in range(start,start+10)))
                for kind,flags,stream,payload in answers:
                    if kind==DATA: bodies[stream]=bodies.get(stream,b"")+payload
                    if stream and flags&1 and kind in (DATA,HEADERS): ended+=1
                    if ended==start+10: break
            print(ended,len(bodies),len(set(bodies.values())),next(iter(bodies.values()))[1:4])
            """#)
        #expect(out == "100 100 1 b'PNG'\n")
        let key = try await Command.run(
            "keys", "create", "--name", "test", "--scope", "admin", "--database", folder.path("x.sqlite"))
        let metrics = try await curl(
            "--http2", "--header", "X-API-Key: \(key.output.trimmingCharacters(in: .whitespacesAndNewlines))",
            url(server, "/metrics"))
        let hits = metrics.split(separator: "\n").first { $0.hasPrefix("billow_cache_hits_total{cache=\"answers\"}") }
        #expect(hits.flatMap { Double($0.split(separator: " ")[1]) } ?? 0 >= 1, "\(hits ?? "none")")
        try await stop(server)
    }

    @Test("events arrive on one stream while others answer, and a shutdown ends it")
    func events() async throws {
        let server = try await start()
        let connected = folder.path("connected")
        async let out = frames(
            server,
            #"""
            s=connect(); s.sendall(request(1,"/events")); events=b""; last=None
            for kind,flags,stream,payload in received(s):
                if stream==1 and kind==HEADERS: s.sendall(request(3,"/healthz"))
                if stream==3 and kind==DATA and payload: open("\#(connected)","w").close()
                if stream==1 and flags&1: events=b"ended"
                if kind==PING and not flags&1: s.sendall(frame(PING,1,0,payload))
                if kind==GOAWAY: last=code(kind,payload)
            print(events,last)
            """#)
        try await eventually("an answer beside the events") { FileManager.default.fileExists(atPath: connected) }
        try await stop(server)
        #expect(try await out == "b'ended' 0\n")
    }

    // MARK: Limits

    @Test("a large header gets a 431; a larger or endless one ends the connection")
    func headers() async throws {
        let server = try await start()
        let out = try await frames(
            server,
            #"""
            def sent(block,size=16000):
                parts=[block[i:i+size] for i in range(0,len(block),size)]
                return b"".join(frame(CONTINUATION if i else HEADERS,(0 if i else 1)|(4 if i==len(parts)-1 else 0),1,p)
                    for i,p in enumerate(parts))
            s=connect(); s.sendall(sent(header("/healthz",more=[("x",40000*"a")]))); print(body(s,1)[:300])
            s=connect(); s.sendall(sent(header("/healthz",more=[("x%d"%i,"a") for i in range(120)])))
            print(body(s,1)[:300])
            s=connect(); s.sendall(sent(header("/"+9000*"a"))); print(body(s,1)[:300])
            s=connect(); send(s,sent(header("/healthz",more=[("x",70000*"a")]))); print("ended",len(body(s,1)))
            s=connect(); send(s,frame(HEADERS,1,1,header("/healthz")))
            count=0
            while count<100000 and send(s,frame(CONTINUATION,0,1,fields(("x","a")))): count+=1
            print("ended",count<100000)
            """#)
        let lines = out.split(separator: "\n")
        #expect(lines.count == 5, "\(out)")
        #expect(lines.filter { $0.contains(#""code":"headers-too-large""#) && $0.contains("431") }.count == 2, "\(out)")
        #expect(lines.filter { $0.contains(#""code":"url-too-long""#) }.count == 1, "\(out)")
        #expect(lines.suffix(2) == ["ended 0", "ended True"], "\(out)")
        #expect(try await isAlive(server))
        try await stop(server)
    }

    @Test("rapid resets, floods of control frames and too many streams end the connection alone")
    func floods() async throws {
        let server = try await start()
        let out = try await frames(
            server,
            #"""
            def flood(data):
                s=connect(); count=0
                while count<200000 and send(s,data(count)): count+=1
                ends=[code(k,p) for k,f,i,p in received(s) if k==GOAWAY]
                print(count<200000,ends[-1:] in ([],[11]))
            flood(lambda i: request(1+2*i,"/tiles/hexagons/latest/4/3/%d.png"%(i%16))+
                frame(RST_STREAM,0,1+2*i,struct.pack(">I",8)))
            flood(lambda i: frame(PING,0,0,bytes(8)))
            flood(lambda i: frame(SETTINGS,0,0))
            # Requests whose bodies never come.
            s=connect()
            for i in range(300): send(s,request(1+2*i,"/alerts",end=False,method="POST"))
            refused=set(); gone=False; s.settimeout(5)
            try:
                for kind,flags,stream,payload in received(s):
                    if kind==RST_STREAM: refused.add(stream)
                    if kind==GOAWAY: gone=True
            except TimeoutError: pass
            print(gone or len(refused)>=200)
            """#)
        #expect(out == "True True\nTrue True\nTrue True\nTrue\n")
        #expect(try await isAlive(server))
        try await stop(server)
    }

    @Test("streams of all connections together are limited, with a 503 beyond")
    func streams() async throws {
        let server = try await start(["BILLOW_SERVER_MAX_CONNECTIONS": "16"])
        let out = try await frames(
            server,
            #"""
            s=connect()
            s.sendall(b"".join(request(1+2*i,"/alerts",end=False,method="POST") for i in range(16)))
            s.sendall(request(33,"/healthz"))
            print(body(s,33)[:300])
            s.sendall(b"".join(frame(RST_STREAM,0,1+2*i,struct.pack(">I",8)) for i in range(16)))
            for stream in range(35,635,2):
                s.sendall(request(stream,"/healthz")); answer=body(s,stream)
                if "ok" in answer: break
                time.sleep(0.2)
            print(answer)
            """#)
        let lines = out.split(separator: "\n")
        #expect(lines.first?.contains(#""code":"overloaded""#) == true, "\(out)")
        #expect(lines.last == #"{"status":"ok"}"#, "\(out)")
        try await stop(server)
    }

    @Test("no client is waited for without end: late bodies, closed windows, silence")
    func deadlines() async throws {
        let server = try await start([
            "BILLOW_SERVER_TIMEOUTS_HEADER": "PT1S", "BILLOW_SERVER_TIMEOUTS_BODY": "PT1S",
            "BILLOW_SERVER_TIMEOUTS_WRITE": "PT1S", "BILLOW_SERVER_TIMEOUTS_IDLE": "PT2S",
        ])
        let late = try await frames(
            server,
            #"s=connect(); s.sendall(request(1,"/alerts",end=False,method="POST")); print(body(s,1)[:300])"#)
        #expect(late.contains(#""code":"request-timeout""#), "\(late)")
        let silent = try await frames(
            server,
            #"""
            # Half a preface, half a header, no request, and one after which nothing comes.
            s=c.wrap_socket(raw); s.sendall(b"PRI * HT"); rest(s); print("ended")
            s=connect(); s.sendall(frame(HEADERS,1,1,header("/healthz"))); print("ended",len(body(s,1)))
            for first in (b"",request(1,"/healthz")):
                s=connect(); s.sendall(first)
                print("ended",[code(k,p) for k,f,i,p in received(s) if k==GOAWAY][:1])
            """#)
        #expect(silent == "ended\nended 0\nended [0]\nended [0]\n")
        let closed = try await frames(
            server,
            #"""
            # INITIAL_WINDOW_SIZE 0: the client lets nothing through.
            s=connect(struct.pack(">HI",4,0)); s.sendall(request(1,"/vendor/maplibre/maplibre-gl.js"))
            print("ended",len(body(s,1)))
            """#)
        #expect(closed == "ended 0\n")
        #expect(try await isAlive(server))
        try await stop(server)
    }

    @Test("a shutdown answers the request that runs, takes no more, and ends in time although a client is silent")
    func shutdown() async throws {
        let server = try await start()
        let started = folder.path("started")
        async let out = frames(
            server,
            #"""
            idle=connect(); idle.sendall(request(1,"/healthz")); body(idle,1)
            s=connect(); s.sendall(request(1,"/alerts",end=False,method="POST")); time.sleep(1)
            open("\#(started)","w").close(); time.sleep(1)
            s.sendall(frame(DATA,1,1,b"{"))
            data=b""; ends=[]
            for kind,flags,stream,payload in received(s):
                if kind==PING and not flags&1: s.sendall(frame(PING,1,0,payload))
                if kind==DATA: data+=payload
                if kind==GOAWAY: ends.append(code(kind,payload))
            print(b"invalid" in data,set(ends))
            """#)
        try await eventually("a request that runs") { FileManager.default.fileExists(atPath: started) }
        try await stop(server)
        #expect(try await out == "True {0}\n")
    }
}
