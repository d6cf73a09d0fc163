import API
import SatchelCore

extension Setting {
    /// A setting that maps tenants to quotas, written `tenant.quota=value` in the environment and in flags. Quotas are read
    /// like the settings for all tenants.
    init(_ key: String, quotas path: any Path<[TenantID: TenantQuotas.Exceptions]>, _ summary: String) {
        self.init(key, "mapping of mappings", summary, isList: true, levels: 2) {
            texts, configuration throws(SettingError) in
            var exceptions: [TenantID: TenantQuotas.Exceptions] = [:]
            for text in texts {
                let exception = try QuotaException(text)
                exceptions[exception.tenant, default: [:]][exception.quota] = .some(exception.bound)
            }
            configuration[keyPath: path] = exceptions
        } shown: { configuration in
            .object(
                configuration[keyPath: path].sorted { $0.key.rawValue < $1.key.rawValue }.map { tenant, exceptions in
                    let members = Quota.allCases.compactMap { quota in
                        exceptions[quota].map { bound in
                            PlainValue.Member(quota.rawValue, bound.map { .integer($0) } ?? .nothing)
                        }
                    }
                    return PlainValue.Member(tenant.rawValue, .object(members))
                })
        }
    }
}

/// One quota of one tenant, read from `tenant.quota=value`.
private struct QuotaException {
    var tenant: TenantID
    var quota: Quota
    /// `nil` for no limit.
    var bound: Int64?

    init(_ text: String) throws(SettingError) {
        // A tenant's name may contain '.' and '=', but the quota and its value contain no '=', and the quota no '.'.
        guard let equals = text.lastIndex(of: "="), let dot = text[..<equals].lastIndex(of: "."), dot > text.startIndex
        else { throw SettingError("entries must be tenant.quota=value, such as acme.stored_bytes=50G", about: text) }
        let name = String(text[text.index(after: dot)..<equals])
        let value = String(text[text.index(after: equals)...])
        guard let quota = Quota(rawValue: name), let setting = Setting.byKey["quotas.\(name)"] else {
            let names = Quota.allCases.map(\.rawValue)
            throw SettingError("there is no quota '\(name)'\(NearestName.hint(for: name, in: names))", about: text)
        }
        tenant = TenantID(rawValue: String(text[..<dot]))
        self.quota = quota
        guard !["null", "none", "~", ""].contains(value.lowercased()) else { return }
        var configuration = ServiceConfiguration()
        do { try setting.set([value], &configuration) } catch {
            throw SettingError(error.remedy, about: text)
        }
        bound = configuration.settings.quotas[quota]
    }
}
