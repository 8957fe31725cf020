/**
 * The owner's words: what they name. An address exactly, letter by letter; anything else as whole words in a row, never a part of one: who wrote
 * `evil.com` did not write `devil.com`.
 */

import { placeText } from '../domain/address.ts'
import { pageOf, webAddressOf, writtenAddresses } from './links.ts'
import { type Asked, askedIn } from './verbs.ts'

export interface OwnerMentions {
  /** Whether a destination stands there as a whole. */
  names(destination: string): boolean
  /** Whether a host does, or a page of it. */
  namesHost(host: string): boolean
  /** Whether a text is made of words that stand there, or of `more`, in whatever order, and of hardly anything else. */
  supplies(text: string, more?: readonly string[]): boolean
  /** Whether a number does, in whatever spelling. */
  counts(number: number): boolean
  /** Whether they ask to tell something there, or leave open what is to be done: who is only named to be read from is not. */
  asksToTell(destination: string): boolean
  /** Whether they ask to tell anybody anything. */
  readonly asksToTellAnybody: boolean
  /** Whether they ask to press, choose or fill in anything. */
  readonly asksToPress: boolean
}

/** What is a word by itself, and what holds words apart. Han has no spaces, so there each word is what the language's rules say. */
const PIECES = /\p{Script=Han}+|[^\s\p{Script=Han}"'“”‘’`<>(){}[\],;|，。；：！？、（）《》【】「」]+/gu
const HAN = /\p{Script=Han}/u
const AROUND = /^[.:!?#@/\\*~_-]+|[.:!?/\\*~_-]+$/g
const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//

const BETWEEN = '\0'
const inARow = (words: readonly string[]): string => `${BETWEEN}${words.join(BETWEEN)}${BETWEEN}`

export function mentionsIn(texts: Iterable<string>): OwnerMentions {
  const given = [...texts]
  // Both are found out when somebody asks: most never do.
  let asked: Asked | undefined
  let telling: OwnerMentions | undefined
  const askedFor = (): Asked => {
    asked ??= askedIn(given)
    return asked
  }
  const rows = given.map((text) => inARow(splitWords(text)))
  const addresses = given.flatMap(writtenAddresses)
  const pages = new Set(addresses.map(pageOf))
  const hosts = new Set(addresses.map(placeText))
  const tokens = new Set(given.flatMap(tokensIn))
  const numbers = new Set(given.flatMap(numbersIn))
  const standsThere = (text: string): boolean => {
    const words = splitWords(text)
    return words.length > 0 && rows.some((row) => row.includes(inARow(words)))
  }
  return {
    names(destination) {
      const address = webAddressOf(destination)
      if (address === undefined) return !/^[a-z][a-z0-9+.-]*:\/\//i.test(destination) && standsThere(destination)
      return (
        pages.has(pageOf(address)) ||
        (isBareHost(destination) && (hosts.has(placeText(address)) || standsThere(destination)))
      )
    },
    namesHost: (host) => hosts.has(host.toLowerCase()) || standsThere(host),
    supplies: (text, more = []) => isMadeOf(text, more.length === 0 ? tokens : new Set([...tokens, ...more])),
    counts: (number) => numbers.has(number),
    asksToTell(destination) {
      telling ??= mentionsIn(askedFor().telling)
      return telling.names(destination)
    },
    get asksToTellAnybody() {
      return askedFor().tells
    },
    get asksToPress() {
      return askedFor().presses
    },
  }
}

const isBareHost = (destination: string): boolean => !/[/?#]/.test(destination)

function splitWords(text: string): readonly string[] {
  // Loading it takes longer than most texts do.
  let segmenter: Intl.Segmenter | undefined
  return (text.normalize('NFKC').toLowerCase().match(PIECES) ?? []).flatMap((piece) => {
    if (!HAN.test(piece)) return trimmedWord(piece) ?? []
    segmenter ??= new Intl.Segmenter('zh', { granularity: 'word' })
    return [...segmenter.segment(piece)].map(({ segment }) => segment)
  })
}

function trimmedWord(piece: string): string | undefined {
  const word = piece.replace(SCHEME, '').replace(AROUND, '')
  return word === '' ? undefined : word
}

const TOKENS = /\p{Script=Han}|[^\P{L}\p{Script=Han}]+|\p{N}+/gu
const tokensIn = (text: string): readonly string[] =>
  (text.normalize('NFKC').match(TOKENS) ?? []).flatMap((token) => [token, token.toLowerCase()])

/** Signs and blanks between words can carry a message of their own; so many of them cannot carry much. */
const SIGNS_PER_TOKEN = 3
const FREE_SIGNS = 12

function isMadeOf(text: string, tokens: ReadonlySet<string>): boolean {
  const own = text.match(TOKENS) ?? []
  const signs = text.length - own.join('').length
  if (signs > FREE_SIGNS + SIGNS_PER_TOKEN * own.length) return false
  // As it was written, in small letters, or with a capital: free case would be a message, too.
  return own.every((token) => tokens.has(token) || (isCapitalised(token) && tokens.has(token.toLowerCase())))
}

const isCapitalised = (token: string): boolean =>
  token === (token[0] ?? '').toUpperCase() + token.slice(1).toLowerCase()

/** `1,200`, `1'200.50`, `1.200,50` and `98.70`: each number that it could be. */
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
