/** Destinations: where a call goes. Of a tool that does not say so, every argument may be one whose name does not say that it is mere content. */

import type { Json } from '../domain/json.ts'

/** Arguments that say what, when and how much, not where to. A page that has a name is a place, and so is an endpoint. */
const CONTENT =
  /^(?:body|texts?|contents?|message|subject|title|caption|description|notes?|comment|summary|reason|markdown|html|date|day|time|when|since|until|start|end|duration|timezone|amount|quantity|count|limit|offset|n|format|language|priority|recurring|rating|emoji)$/i
/** Only where that is all of the name: the details of a recipient are an address. */
const ALONE = /^details?$/i
/** Numbers are amounts, unless their name says that they are somebody's. */
const NUMBERED = /id$|account|number|phone|iban|card|recipient|to$/i

/** Addresses in what is said: whoever reads it will go there. A bare name counts where it ends like one of the net. */
const LINKS =
  /(?:[a-z][a-z0-9+.-]*:\/\/|www\.)[^\s<>"']+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+|\b(?:[\w-]+\.)+(?:com|org|net|io|co|ai|dev|app|info|biz|xyz|me|tv|cc|ru|cn|ch|de|fr|uk|eu|us|jp|top|site|online|shop|link|click)\b(?:\/[^\s<>"']*)?/giu

export function linksIn(args: Json): readonly string[] {
  if (typeof args === 'string') return args.match(LINKS) ?? []
  if (typeof args !== 'object' || args === null) return []
  return Object.values(args).flatMap(linksIn)
}

export function destinationsIn(args: Json): readonly string[] {
  return found('', args)
}

/** With the host that is reached, unless one of them is an address of it: that says more. */
export function withHost(destinations: readonly string[], host: string | undefined): readonly string[] {
  return host === undefined || destinations.some((one) => hostIn(one) === host.toLowerCase())
    ? destinations
    : [host, ...destinations]
}

const hostIn = (address: string): string | undefined =>
  URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(address) ? address : `http://${address}`)?.hostname

function found(name: string, value: Json): readonly string[] {
  if (Array.isArray(value)) return (value as readonly Json[]).flatMap((one) => found(name, one))
  // What content is made of may well say where it goes.
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([key, inner]) => found(key, inner))
  if (isContent(name)) return []
  if (typeof value === 'string') return value.trim() === '' ? [] : [value]
  return typeof value === 'number' && NUMBERED.test(name) ? [String(value)] : []
}

/** By its last word: `message_body` and `messageBody` are both a body. */
function isContent(name: string): boolean {
  const last = name.split(/[_\-.]|(?<=[a-z\d])(?=[A-Z])/).at(-1) ?? ''
  return CONTENT.test(last) || ALONE.test(name)
}
