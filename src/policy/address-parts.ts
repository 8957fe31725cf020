/**
 * Checks what a request tells its host by the address alone: which parts of path and query the owner did not write.
 * Must not know: which hosts may be read at all.
 */

import { type Address, formatHostPort } from '../domain/address.ts'
import { addressWithoutScheme, parseWebAddress } from './links.ts'
import type { OwnerMentions } from './owner-mentions.ts'

const MAX_PATH_LENGTH = 200
/** Path words that carry no information. */
const NEUTRAL_PATH_WORDS = [
  ...['index', 'html', 'htm', 'json', 'xml', 'txt', 'wiki', 'search', 'q', 'query', 'page', 'docs'],
  ...['en', 'de', 'zh', 'api', 'latest', 'git'],
]

/** Path and query, decoded. Undefined if they are too long or contain punctuation that could encode a message. */
function plainPathOf({ url }: Address): string | undefined {
  const { pathname, search } = new URL(url)
  try {
    return plainText(decodeURIComponent((pathname + search).replaceAll('+', ' ')))
  } catch {
    return undefined
  }
}

const plainText = (text: string): string | undefined =>
  text.length > MAX_PATH_LENGTH || /[^\p{L}\p{N}]{2}|[^\p{L}\p{N}/?&=+ ,._~-]/u.test(text) ? undefined : text

const neutralWordsAt = (host: string): readonly string[] => [...NEUTRAL_PATH_WORDS, ...host.split(/[.-]/)]

/** Whether path and query consist of the owner's words. */
export function isPathFromOwner(address: Address, words: OwnerMentions): boolean {
  const path = plainPathOf(address)
  return path !== undefined && words.coversText(path, neutralWordsAt(address.host))
}

/** What a session knows of a host that the owner has listed in `policy.allow_hosts`. */
export interface KnownOfHost {
  readonly words: OwnerMentions
  /**
   * Whether the host's name could carry a message: `policy.allow_hosts` does not list the name itself, and the session
   * has read nothing from the host.
   */
  readonly isNameFree: (place: string) => boolean
  /** Whether the session has read this address before. */
  readonly hasRead: (address: Address) => boolean
  /**
   * Whether a text from the host contains this word, or the session knew the word as a name before it read outside
   * content.
   */
  readonly isWordKnown: (place: string, word: string) => boolean
}

/**
 * Maximum number of parts that the owner did not write. Even a choice among known words can carry a message, so few are
 * allowed.
 */
const MAX_KNOWN_PARTS = 3
/** A small number is allowed: it is usually a page, a result or a version. */
const SMALL_NUMBER = /^\d{1,2}$/

/**
 * Contract: returns the parts of a destination that could carry data to the host; if there are none, the request is
 * allowed. A destination that is not an address is an argument of a request to `host`.
 */
export function unknownParts(destination: string, host: string, known: KnownOfHost): readonly string[] {
  const address = parseWebAddress(destination)
  if (address && known.hasRead(address)) return []
  const place = address ? formatHostPort(address) : host
  if (known.isNameFree(place) && !known.words.mentionsHost(place)) return [place]
  const path = address ? plainPathOf(withoutScopeMark(address)) : plainText(destination)
  if (path === undefined) return [address ? addressWithoutScheme(address) : destination]
  const parts = path
    .split(/[/?&=+ ,]/)
    .filter((part) => part !== '' && !known.words.coversText(part, neutralWordsAt(place)))
  if (parts.length > MAX_KNOWN_PARTS) return parts
  return parts.filter((part) => !SMALL_NUMBER.test(part) && !known.isWordKnown(place, part))
}

/** Removes the `@` from `/@scope/name`, which is how registries spell the name of a package. */
const withoutScopeMark = (address: Address): Address => ({ ...address, url: address.url.replace('/@', '/') })

/** Whether the text contains this word as a whole. */
export const hasWord = (text: string, word: string): boolean =>
  new RegExp(`(?<![\\p{L}\\p{N}])${RegExp.escape(word)}(?![\\p{L}\\p{N}])`, 'u').test(text)

/**
 * Whether a line of the text begins with this name, as in a list of packages: `"left-pad": "^1.0"`, `serde = "1"`. Text
 * after the name, such as the value of a setting, is not a listed name.
 */
export function isListedName(text: string, name: string): boolean {
  if (!/^[a-z][a-z0-9]*(?:[._-][a-z0-9]+)*$/i.test(name) || name.length > MAX_NAME_LENGTH) return false
  return new RegExp(`^[\\s\\d:|>*"'-]*@?(?:[\\w.-]+/)*${RegExp.escape(name)}(?![\\w.-])`, 'mu').test(text)
}
const MAX_NAME_LENGTH = 40
