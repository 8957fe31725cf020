/**
 * Matches destinations and texts against the owner's messages. A web address must match exactly. Any other text must
 * match whole words in a row: `evil.com` in a message does not match `devil.com`.
 */

import { formatHostPort } from '../domain/address.ts'
import { addressWithoutScheme, findWebAddresses, parseWebAddress } from './links.ts'
import { findRequestedActions, type RequestedActions } from './requested-actions.ts'

export interface OwnerMentions {
  /** Whether the messages contain this destination in full. */
  mentions(destination: string): boolean
  /** Whether the messages contain this host, or an address on this host. */
  mentionsHost(host: string): boolean
  /** Whether the text consists of words from the messages or from `more`, in any order, with little punctuation. */
  coversText(text: string, more?: readonly string[]): boolean
  /** Whether the messages contain this number, in any notation. */
  mentionsNumber(number: number): boolean
  /** Whether the destination is named in a clause that asks to send something, or in a clause without a known verb. */
  asksToSendTo(destination: string): boolean
  /** Whether any clause asks to send something. */
  readonly asksToSend: boolean
  /** Whether any clause asks to click, choose or fill in something. */
  readonly asksToOperatePage: boolean
}

/**
 * A sequence of Han characters, or of other characters up to a separator. A segmenter splits the Han characters into
 * words.
 */
const PIECES = /\p{Script=Han}+|[^\s\p{Script=Han}"'“”‘’`<>(){}[\],;|，。；：！？、（）《》【】「」]+/gu
const HAN = /\p{Script=Han}/u
const OUTER_PUNCTUATION = /^[.:!?#@/\\*~_-]+|[.:!?/\\*~_-]+$/g
const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//

const SEPARATOR = '\0'
const joinWords = (words: readonly string[]): string => `${SEPARATOR}${words.join(SEPARATOR)}${SEPARATOR}`

export function findMentions(texts: Iterable<string>): OwnerMentions {
  const messages = [...texts]
  // The requested actions are computed on first use, because most callers never need them.
  let cachedActions: RequestedActions | undefined
  let sendMentions: OwnerMentions | undefined
  const requestedActions = (): RequestedActions => {
    cachedActions ??= findRequestedActions(messages)
    return cachedActions
  }
  const rows = messages.map((text) => joinWords(splitWords(text)))
  const addresses = messages.flatMap(findWebAddresses)
  const pages = new Set(addresses.map(addressWithoutScheme))
  const hosts = new Set(addresses.map(formatHostPort))
  const tokens = new Set(messages.flatMap(tokensIn))
  const numbers = new Set(messages.flatMap(numbersIn))
  const containsWords = (text: string): boolean => {
    const words = splitWords(text)
    return words.length > 0 && rows.some((row) => row.includes(joinWords(words)))
  }
  return {
    mentions(destination) {
      const address = parseWebAddress(destination)
      if (address === undefined) return !/^[a-z][a-z0-9+.-]*:\/\//i.test(destination) && containsWords(destination)
      return (
        pages.has(addressWithoutScheme(address)) ||
        (isBareHost(destination) && (hosts.has(formatHostPort(address)) || containsWords(destination)))
      )
    },
    mentionsHost: (host) => hosts.has(host.toLowerCase()) || containsWords(host),
    coversText: (text, more = []) => isMadeOf(text, more.length === 0 ? tokens : new Set([...tokens, ...more])),
    mentionsNumber: (number) => numbers.has(number),
    asksToSendTo(destination) {
      sendMentions ??= findMentions(requestedActions().sendClauses)
      return sendMentions.mentions(destination)
    },
    get asksToSend() {
      return requestedActions().asksToSend
    },
    get asksToOperatePage() {
      return requestedActions().asksToOperatePage
    },
  }
}

const isBareHost = (destination: string): boolean => !/[/?#]/.test(destination)

function splitWords(text: string): readonly string[] {
  // The segmenter is created only for Han text, because creating it is slow.
  let segmenter: Intl.Segmenter | undefined
  return (text.normalize('NFKC').toLowerCase().match(PIECES) ?? []).flatMap((piece) => {
    if (!HAN.test(piece)) return trimmedWord(piece) ?? []
    segmenter ??= new Intl.Segmenter('zh', { granularity: 'word' })
    return [...segmenter.segment(piece)].map(({ segment }) => segment)
  })
}

function trimmedWord(piece: string): string | undefined {
  const word = piece.replace(SCHEME, '').replace(OUTER_PUNCTUATION, '')
  return word === '' ? undefined : word
}

const TOKENS = /\p{Script=Han}|[^\P{L}\p{Script=Han}]+|\p{N}+/gu
const tokensIn = (text: string): readonly string[] =>
  (text.normalize('NFKC').match(TOKENS) ?? []).flatMap((token) => [token, token.toLowerCase()])

/** Punctuation and spaces could encode a message of their own; these limits keep such a message too short to matter. */
const MAX_OTHER_PER_TOKEN = 3
const FREE_OTHER = 12

function isMadeOf(text: string, tokens: ReadonlySet<string>): boolean {
  const textTokens = text.match(TOKENS) ?? []
  const otherCharacters = text.length - textTokens.join('').length
  if (otherCharacters > FREE_OTHER + MAX_OTHER_PER_TOKEN * textTokens.length) return false
  // Accept the original case, lower case or a leading capital. Any other mix of upper and lower case could encode a
  // message.
  return textTokens.every((token) => tokens.has(token) || (isCapitalised(token) && tokens.has(token.toLowerCase())))
}

const isCapitalised = (token: string): boolean =>
  token === (token[0] ?? '').toUpperCase() + token.slice(1).toLowerCase()

/** Reads `1,200`, `1'200.50`, `1.200,50` and `98.70`; returns each number that a notation may stand for. */
function numbersIn(text: string): readonly number[] {
  const found = text.normalize('NFKC').match(/\d+(?:[.,'’ ]\d+)*/g) ?? []
  return found.flatMap((one) => {
    const spellings = [one, ...one.split(' ')].flatMap((spelling) => [
      spelling.replaceAll(/[.,'’ ](?=\d{3}(?:\D|$))/g, '').replace(',', '.'),
      spelling.replaceAll(/[,'’ ]/g, ''),
    ])
    return spellings.map(Number).filter(Number.isFinite)
  })
}
