import CivilCalendar
import GRIBKit

extension GRIBDraft {
    /// The message's line in an `.idx` file, as NOAA publishes them beside GRIB2 files, without a line end:
    /// `51:28123456:d=2026112215:EDPARM:15240 m above mean sea level:1 hour fcst:`
    ///
    /// - Parameters:
    ///   - number: the message's number in the file, from 1.
    ///   - offset: its offset in the file, in bytes.
    ///
    /// Source: wgrib2's inventory format (NOAA CPC, "wgrib2: short inventory", -s)
    package func indexLine(number: Int, offset: Int) -> String {
        let time = CivilTime(unixSeconds: referenceSeconds)
        func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let run = "\(time.year)\(two(time.month))\(two(time.day))\(two(time.hour))"
        let place =
            switch level {
            case .altitude(let level): "\(level.wholeMetres) m above mean sea level"
            case .column: "entire atmosphere"
            }
        let step =
            switch lead {
            case .hours(0), .minutes(0): "anl"
            case .hours(let hours): "\(hours) hour fcst"
            case .minutes(let minutes): "\(minutes) min fcst"
            }
        return "\(number):\(offset):d=\(run):\(parameterName):\(place):\(step):"
    }

    /// NCEP's name of the parameter. A parameter without a name has its numbers, as wgrib2 writes them.
    private var parameterName: String {
        switch parameter {
        case .eddyDissipation: "EDPARM"
        case .clearAirTurbulence: "CATEDR"
        case .mountainWaveTurbulence: "MWTURB"
        case .maximumEddyDissipation: "MXEDPRM"
        default:
            "var discipline=\(parameter.discipline) master_table=2 parmcat=\(parameter.category) "
                + "parm=\(parameter.number)"
        }
    }
}
