/** Destinations: where a call goes. Of a tool that does not say so, every argument may be one whose name does not say that it is mere content. */

import type { Json } from '../domain/json.ts'

/** Arguments that say what, when and how much, not where to. */
const CONTENT =
  /^(?:body|text|texts?|content|contents|message|subject|title|caption|description|details?|notes?|comment|summary|reason|markdown|html|date|day|time|when|since|until|start.*|end.*|duration|timezone|amount|quantity|count|limit|offset|n|page|format|language|priority|recurring|rating|emoji)$/i
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

function found(name: string, value: Json): readonly string[] {
  const own = name.split(/[_\-.]/).at(-1) ?? ''
  if (CONTENT.test(name) || (CONTENT.test(own) && name !== own)) return []
  if (typeof value === 'string') return value.trim() === '' ? [] : [value]
  if (typeof value === 'number') return NUMBERED.test(name) ? [String(value)] : []
  if (Array.isArray(value)) return (value as readonly Json[]).flatMap((one) => found(name, one))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => found(key, inner))
}
