/**
 * Network addresses, parsed strictly: an address that two programs could read in two ways is refused. Pure.
 * A host is a name of ASCII labels, four decimal numbers, or an IPv6 address; no user, no escapes, no other number
 * formats.
 */

export interface HostPort {
  /** Lower case: a name, an IPv4 address, or an IPv6 address without brackets in its shortest form. */
  readonly host: string
  readonly port: number
}

export interface Address extends HostPort {
  readonly scheme: 'http' | 'https'
  /** The URL to request, without its fragment (`#…`). */
  readonly url: string
}

type ParseResult<T> = { readonly kind: 'read'; readonly value: T } | { readonly kind: 'refused'; readonly why: string }

const accepted = <T>(value: T): ParseResult<T> => ({ kind: 'read', value })
const refused = (why: string): ParseResult<never> => ({ kind: 'refused', why })

export const isWebPort = (port: number): boolean => port === 80 || port === 443

const DEFAULT_PORTS = { http: 80, https: 443 } as const
const MAX_URL_LENGTH = 8192

export function parseHttpAddress(text: string): ParseResult<Address> {
  if (text.length > MAX_URL_LENGTH) return refused(`an address longer than ${MAX_URL_LENGTH} characters`)
  // Some programs read a backslash as a slash; others skip line breaks and blanks.
  if (/[\s\\]|\p{Cc}|\p{Cf}/u.test(text) || !text.isWellFormed())
    return refused('a blank, a backslash or a control character')
  const [, scheme, authority] = /^(https?):\/\/([^/?#]*)(?:[/?#]|$)/i.exec(text) ?? []
  if (scheme === undefined || authority === undefined)
    return refused('an address that does not begin with http:// or https://')
  const kind = scheme.toLowerCase() === 'https' ? 'https' : 'http'
  const place = parseHostPort(authority, DEFAULT_PORTS[kind])
  if (place.kind === 'refused') return place
  const { host, port } = place.value
  // The address is refused unless Node's own URL parser finds the same host and port.
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || url.hostname !== bracketIpv6(host) || Number(url.port || DEFAULT_PORTS[kind]) !== port)
    return refused('an address that can be read in more than one way')
  url.hash = ''
  return accepted({ scheme: kind, host, port, url: url.href })
}

/**
 * Reads `host`, `host:port` or `[ipv6]:port`. `port` is the default port; without a default, the text must name a port.
 */
export function parseHostPort(text: string, port?: number): ParseResult<HostPort> {
  if (text.includes('@')) return refused('a user or a password before the host')
  const [, host = '', , digits] = /^(\[[^\]]*\]|[^:]*)(:(.*))?$/s.exec(text) ?? []
  if (host === '') return refused('an address without a host')
  const portNumber = digits === undefined ? port : parsePort(digits)
  if (portNumber === undefined) return refused('an invalid port (expected a number from 1 to 65535)')
  const parsedHost = parseHost(host)
  return parsedHost.kind === 'refused' ? parsedHost : accepted({ host: parsedHost.value, port: portNumber })
}

function parsePort(digits: string): number | undefined {
  const port = /^[1-9]\d{0,4}$/.test(digits) ? Number(digits) : 0
  return port >= 1 && port <= 65_535 ? port : undefined
}

/** True for the same host and port; 80 and 443 count as one port, and `www.` before a name makes no difference. */
export function isSameSite(a: HostPort, b: HostPort): boolean {
  const bare = ({ host }: HostPort): string => host.replace(/^www\.(?=.*\.)/, '')
  return bare(a) === bare(b) && (a.port === b.port || (isWebPort(a.port) && isWebPort(b.port)))
}

/** Leaves out the port if it is 80 or 443. */
export function formatHostPort({ host, port }: HostPort): string {
  return isWebPort(port) ? bracketIpv6(host) : `${bracketIpv6(host)}:${port}`
}

export const bracketIpv6 = (host: string): string => (host.includes(':') ? `[${host}]` : host)

const LABEL = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/

/** Parses a name, an IPv4 address, or an IPv6 address in brackets. */
export function parseHost(text: string): ParseResult<string> {
  if (text.startsWith('[')) {
    const groups = ipv6Groups(text.slice(1, -1))
    return groups && text.endsWith(']') ? accepted(compressIpv6(groups)) : refused('an invalid IPv6 address')
  }
  const name = text.toLowerCase()
  // Also refuses look-alike characters and every name that needs a conversion (IDN) first.
  if (!/^[a-z0-9.-]+$/.test(name)) return refused('a host with characters other than letters, digits, dots and hyphens')
  if (name.endsWith('.')) return refused('a host that ends in a dot')
  if (name.length > 253) return refused('a host that is too long')
  const labels = name.split('.')
  if (!labels.every((label) => LABEL.test(label))) return refused('an invalid host name')
  // Every parser takes a name whose last label is a number for an IPv4 address, in one of many formats.
  if (/^(\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? ''))
    return ipv4Octets(name) ? accepted(name) : refused('an IPv4 address that is not four decimal numbers')
  return accepted(name)
}

export const isIp = (host: string): boolean => host.includes(':') || ipv4Octets(host) !== undefined

/** Contract: returns undefined unless the text is four decimal numbers without leading zeros. */
function ipv4Octets(text: string): readonly number[] | undefined {
  const parts = text.split('.')
  const octets = parts.map((part) => (/^(0|[1-9]\d{0,2})$/.test(part) ? Number(part) : 256))
  return octets.length === 4 && octets.every((octet) => octet < 256) ? octets : undefined
}

/** Contract: returns eight numbers; undefined if the text is no IPv6 address or names a zone. */
function ipv6Groups(text: string): readonly number[] | undefined {
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const [head, tail] = halves.map((half, at) => parseGroups(half, at === halves.length - 1))
  if (!head || (halves.length === 2 && !tail)) return undefined
  if (tail === undefined) return head.length === 8 ? head : undefined
  const gap = 8 - head.length - tail.length
  return gap >= 1 ? [...head, ...new Array<number>(gap).fill(0), ...tail] : undefined
}

/** Parses one half of an IPv6 address. `last`: this is the last half, which may end with an IPv4 address. */
function parseGroups(half: string, last: boolean): readonly number[] | undefined {
  if (half === '') return []
  const parts = half.split(':')
  const groups: number[] = []
  for (const [at, part] of parts.entries()) {
    const octets = last && at === parts.length - 1 ? ipv4Octets(part) : undefined
    const [a = 0, b = 0, c = 0, d = 0] = octets ?? []
    if (octets) groups.push(a * 256 + b, c * 256 + d)
    else if (/^[0-9a-f]{1,4}$/i.test(part)) groups.push(Number.parseInt(part, 16))
    else return undefined
  }
  return groups
}

/** RFC 5952: `::` replaces the longest run of zeros; of several equally long runs, the first. */
function compressIpv6(groups: readonly number[]): string {
  const text = groups.map((group) => group.toString(16)).join(':')
  const runs = [...text.matchAll(/(?<![0-9a-f])0(?::0)+(?![0-9a-f])/g)]
  const longest = runs.reduce((best, run) => (run[0].length > best.length ? run[0] : best), '')
  if (longest === '') return text
  const at = runs.find(([run]) => run === longest)?.index ?? 0
  return `${text.slice(0, at).replace(/:$/, '')}::${text.slice(at + longest.length).replace(/^:/, '')}`
}

/** One entry of `policy.allow_hosts`. */
export interface AllowedHost {
  readonly host: string
  /** True: every name below `host`, but not `host` itself. */
  readonly subdomainsOnly: boolean
  /** Undefined: 80 and 443. */
  readonly port: number | undefined
}

/** Contract: returns undefined if the entry is invalid. */
export function parseAllowedHost(entry: string): AllowedHost | undefined {
  const below = entry.startsWith('*.')
  const text = below ? entry.slice(2) : entry
  const place = parseHostPort(text, 0)
  if (place.kind === 'refused') return undefined
  const { host, port } = place.value
  if (below && (isIp(host) || !host.includes('.'))) return undefined
  return { host, subdomainsOnly: below, port: port === 0 ? undefined : port }
}

export function allowsHost({ host, subdomainsOnly: below, port }: AllowedHost, place: HostPort): boolean {
  const portFits = port === undefined ? isWebPort(place.port) : port === place.port
  return portFits && (below ? place.host.endsWith(`.${host}`) : place.host === host)
}
