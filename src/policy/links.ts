/**
 * Finds links in a text: web and mail addresses, phone numbers, bank accounts and wallets. The patterns match too much
 * rather than too little: a false match costs one approval, a missed link can do harm.
 */

import { type Address, parseHttpAddress } from '../domain/address.ts'
import type { Json } from '../domain/json.ts'

const REST = String.raw`[^\s<>"'“”‘’，。；！？、（）《》【】「」]*`
/** Browsers read each of these characters as a dot. */
const DOT = '[.。．｡]'
const ASCII_LABEL = '[a-z0-9](?:[a-z0-9-]*[a-z0-9])?'
const ASCII_HOST = `(?<![a-z0-9@._-])(?:${ASCII_LABEL}${DOT})+(?:xn--[a-z0-9-]+|[a-z]{2,24})(?![a-z0-9-])`
const IPV4 = String.raw`(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.]*\d)`
const OTHER_HOST = String.raw`(?<![\p{L}\p{N}@._-])(?:[\p{L}\p{N}-]+\.)+\p{L}{2,24}(?![\p{L}\p{N}-])`
const SCHEMES = 'mailto|tel|sms|data|javascript|file|magnet|bitcoin|ethereum|lightning|facetime|skype|tg|whatsapp|upi'
const PATH = String.raw`(?::\d{1,5})?(?:[/?#]${REST})?`

/**
 * The order matters: an earlier pattern matches a link in full that a later pattern would match only in part. Schemes
 * and names before `@` have a limit, because a pattern that may begin anywhere must not read a long text from
 * everywhere: what a model wrote would stop the process for minutes.
 */
const LINKS = new RegExp(
  [
    `(?:[a-z][a-z0-9+.-]{0,40}:)?//${REST}`,
    String.raw`(?<![\p{L}\p{N}])(?:${SCHEMES}):${REST}`,
    String.raw`[\p{L}\p{N}._%+-]{1,64}@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+`,
    `${IPV4}${PATH}`,
    `${ASCII_HOST}${PATH}`,
    `${OTHER_HOST}${PATH}`,
    // The last three patterns: IBAN, wallet address, international phone number.
    String.raw`(?<![a-z0-9])[a-z]{2}\d{2}(?: ?[a-z0-9]{4}){2,7}(?: ?[a-z0-9]{1,3})?(?![a-z0-9])`,
    '(?<![a-z0-9])(?:0x[0-9a-f]{40}|bc1[a-z0-9]{20,80})(?![a-z0-9])',
    String.raw`(?<![\p{L}\p{N}+])(?:\+|00)[1-9](?:[ ()./-]{0,2}\d){6,14}(?!\d)`,
  ].join('|'),
  'giu',
)

/** A bare name with one of these endings is a file name, not a host. */
const FILE_ENDINGS = new Set(
  `md txt rst adoc json jsonl js mjs cjs ts mts tsx jsx py ipynb sh bash zsh rs go rb java kt c h cc cpp hpp cs css
  scss less html htm xml yaml yml toml ini
  cfg conf lock log csv tsv sql pdf png jpg jpeg gif svg webp ico zip gz tar tgz bz2 xz exe dll so bin iso img mp3
  mp4 mov wav avi doc docx xls xlsx ppt pptx
  odt db sqlite env bak tmp map wasm vue svelte php pl lua swift dart gradle properties jar apk deb rpm patch diff
  pem crt key`.split(/\s+/),
)

const isFileName = (found: string): boolean =>
  /^[\p{L}\p{N}.-]+$/u.test(found) &&
  !/^www\./i.test(found) &&
  FILE_ENDINGS.has(found.slice(found.lastIndexOf('.') + 1).toLowerCase())

const PUNCTUATION: ReadonlySet<string> = new Set('.,;:!?)]}\'"*_~|')

/** Removes punctuation after an address that belongs to the sentence. */
function trimPunctuation(address: string): string {
  let end = address.length
  while (PUNCTUATION.has(address.charAt(end - 1))) end -= 1
  return address.slice(0, end)
}

/** Removes invisible characters: they could hide an address from these patterns, though a browser still follows it. */
const removeInvisible = (text: string): string => text.normalize('NFKC').replaceAll(/\p{Cf}/gu, '')

/** Contract: returns each link once, as written, without trailing punctuation. */
function findLinksInText(text: string): readonly string[] {
  const seen = removeInvisible(text)
  const found = (seen.match(LINKS) ?? []).map(trimPunctuation)
  return [...new Set(found)].filter((one) => one !== '' && one !== '//' && !isFileName(one))
}

/** Finds links in every string value and every object key. */
export function findLinks(value: Json): readonly string[] {
  if (typeof value === 'string') return findLinksInText(value)
  if (typeof value !== 'object' || value === null) return []
  const inner = Object.values(value).flatMap(findLinks)
  return Array.isArray(value) ? inner : [...Object.keys(value).flatMap(findLinksInText), ...inner]
}

const WITHOUT_SCHEME = /^(?:localhost|\[[0-9a-f:]+\]|[a-z0-9-]+(?:\.[a-z0-9-]+)+)(?::\d{1,5})?(?:[/?#].*)?$/isu

/** Contract: parses an address with or without scheme; undefined for any other text, or for an ambiguous spelling. */
export function parseWebAddress(text: string): Address | undefined {
  const whole = /^https?:\/\//i.test(text) ? text : WITHOUT_SCHEME.test(text) ? `https://${text}` : undefined
  const read = whole === undefined ? undefined : parseHttpAddress(whole)
  return read?.kind === 'read' ? read.value : undefined
}

/** Host, path and query exactly as written, without the scheme. */
export const addressWithoutScheme = ({ url }: Address): string => url.replace(/^https?:\/\//, '')

/** Whether both texts are equal, or are the same web address apart from the scheme. */
export function isSameAddress(a: string, b: string): boolean {
  const [one, other] = [parseWebAddress(a), parseWebAddress(b)]
  return (
    a === b || (one !== undefined && other !== undefined && addressWithoutScheme(one) === addressWithoutScheme(other))
  )
}

/** Web addresses in a person's message; each also without trailing characters that may belong to the sentence. */
export function findWebAddresses(text: string): readonly Address[] {
  return matchWebAddresses(text).flatMap((found) => {
    const bare = trimPunctuation(found)
    // In "…example.com.They", the space after the full stop is missing; the address ends before "They".
    const joined = /^(.+\.[a-z]{2,})\.[A-Z][a-z]+$/.exec(bare)?.[1]
    return [...new Set([found, bare, joined])].flatMap((one) => (one === undefined ? [] : (parseWebAddress(one) ?? [])))
  })
}

const WEB_ADDRESS = new RegExp(
  `https?://${REST}|(?<![/?=&%])(?:(?<![a-z0-9@._-])localhost|${ASCII_HOST}(?!@)|${IPV4})${PATH}`,
  'giu',
)
const matchWebAddresses = (text: string): readonly string[] => text.normalize('NFKC').match(WEB_ADDRESS) ?? []
