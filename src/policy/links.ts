/**
 * Links: whatever in a text leads its reader elsewhere, or tells where to send something: addresses of the web, of mail and of telephones, and accounts.
 * Found generously: one too many costs a question, one too few a victim.
 */

import { type Address, addressOf } from '../domain/address.ts'
import type { Json } from '../domain/json.ts'

const REST = String.raw`[^\s<>"'“”‘’，。；！？、（）《》【】「」]*`
/** Browsers take these for dots, too. */
const DOT = '[.。．｡]'
const ASCII_HOST = `(?<![a-z0-9@._-])(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?${DOT})+(?:xn--[a-z0-9-]+|[a-z]{2,24})(?![a-z0-9-])`
const OTHER_HOST = String.raw`(?<![\p{L}\p{N}@._-])(?:[\p{L}\p{N}-]+\.)+\p{L}{2,24}(?![\p{L}\p{N}-])`
const PATH = String.raw`(?::\d{1,5})?(?:[/?#]${REST})?`

/** One after the other: what stands further up is the whole of what a later one would find a part of. */
const LINKS = new RegExp(
  [
    `(?:[a-z][a-z0-9+.-]*:)?//${REST}`,
    String.raw`(?<![\p{L}\p{N}])(?:mailto|tel|sms|data|javascript|file|magnet|bitcoin|ethereum|lightning|facetime|skype|tg|whatsapp|upi):${REST}`,
    String.raw`[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+`,
    String.raw`(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.]*\d)${PATH}`,
    `${ASCII_HOST}${PATH}`,
    `${OTHER_HOST}${PATH}`,
    // Accounts: IBAN, wallets; a telephone as it is written for people of other countries.
    String.raw`(?<![a-z0-9])[a-z]{2}\d{2}(?: ?[a-z0-9]{4}){2,7}(?: ?[a-z0-9]{1,3})?(?![a-z0-9])`,
    '(?<![a-z0-9])(?:0x[0-9a-f]{40}|bc1[a-z0-9]{20,80})(?![a-z0-9])',
    String.raw`(?<![\p{L}\p{N}+])(?:\+|00)[1-9](?:[ ()./-]{0,2}\d){6,14}(?!\d)`,
  ].join('|'),
  'giu',
)

/** A bare name that ends so is a file. */
const FILE_ENDINGS = new Set(
  `md txt rst adoc json jsonl js mjs cjs ts mts tsx jsx py ipynb sh bash zsh rs go rb java kt c h cc cpp hpp cs css scss less html htm xml yaml yml toml ini
  cfg conf lock log csv tsv sql pdf png jpg jpeg gif svg webp ico zip gz tar tgz bz2 xz exe dll so bin iso img mp3 mp4 mov wav avi doc docx xls xlsx ppt pptx
  odt db sqlite env bak tmp map wasm vue svelte php pl lua swift dart gradle properties jar apk deb rpm patch diff pem crt key`.split(
    /\s+/,
  ),
)

const isFileName = (found: string): boolean =>
  /^[\p{L}\p{N}.-]+$/u.test(found) &&
  !/^www\./i.test(found) &&
  FILE_ENDINGS.has(found.slice(found.lastIndexOf('.') + 1).toLowerCase())

/** Behind an address in a sentence this is the sentence's. */
const BEHIND = /[.,;:!?)\]}'"*_~|]+$/u

/** What nobody sees counts for nothing: it may hide an address from us, and not from a browser. */
const visible = (text: string): string => text.normalize('NFKC').replaceAll(/\p{Cf}/gu, '')

/** Contract: each as it stands there, without the punctuation behind it. */
export function linksInText(text: string): readonly string[] {
  const seen = visible(text)
  const found = (seen.match(LINKS) ?? []).map((one) => one.replace(BEHIND, ''))
  return [...new Set(found)].filter((one) => one !== '' && one !== '//' && !isFileName(one))
}

/** In every text of it, and in the names of its parts. */
export function linksIn(value: Json): readonly string[] {
  if (typeof value === 'string') return linksInText(value)
  if (typeof value !== 'object' || value === null) return []
  const inner = Object.values(value).flatMap(linksIn)
  return Array.isArray(value) ? inner : [...Object.keys(value).flatMap(linksInText), ...inner]
}

const BARE = /^(?:localhost|\[[0-9a-f:]+\]|[a-z0-9-]+(?:\.[a-z0-9-]+)+)(?::\d{1,5})?(?:[/?#].*)?$/isu

/** Contract: the address that it is, be it without its scheme; undefined where it is none, or can be read in more than one way. */
export function webAddressOf(text: string): Address | undefined {
  const whole = /^https?:\/\//i.test(text) ? text : BARE.test(text) ? `https://${text}` : undefined
  const read = whole === undefined ? undefined : addressOf(whole)
  return read?.kind === 'read' ? read.value : undefined
}

/** What is asked for there, letter by letter. The scheme goes without saying. */
export const pageOf = ({ url }: Address): string => url.replace(/^https?:\/\//, '')

/** Whether both are the same place, however they are written. */
export function isSamePlace(a: string, b: string): boolean {
  const [one, other] = [webAddressOf(a), webAddressOf(b)]
  return a === b || (one !== undefined && other !== undefined && pageOf(one) === pageOf(other))
}

/** Addresses of the web in what a person wrote, each also without what may be the sentence's. */
export function writtenAddresses(text: string): readonly Address[] {
  return linksOfWeb(text).flatMap((found) => {
    const bare = found.replace(BEHIND, '')
    // «…example.com.They»: the blank behind a full stop was forgotten.
    const joined = /^(.+\.[a-z]{2,})\.[A-Z][a-z]+$/.exec(bare)?.[1]
    return [...new Set([found, bare, joined])].flatMap((one) => (one === undefined ? [] : (webAddressOf(one) ?? [])))
  })
}

const WEB = new RegExp(
  String.raw`https?://${REST}|(?<![/?=&%])(?:(?<![a-z0-9@._-])localhost|${ASCII_HOST}(?!@)|(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.]*\d))${PATH}`,
  'giu',
)
const linksOfWeb = (text: string): readonly string[] => text.normalize('NFKC').match(WEB) ?? []
