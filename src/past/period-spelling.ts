/** Corrects slips of the pen in English words for times: a question about "yesteday" is not one about today. Pure. */

import { editDistance } from '../domain/edit-distance.ts'

/** Words that resemble no other word that people write in such questions. */
const WORDS = [
  ...['today', 'yesterday', 'tomorrow', 'tonight', 'morning', 'afternoon', 'evening', 'weekend'],
  ...['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'],
  ...['january', 'february', 'september', 'october', 'november', 'december'],
]
const RIGHT = new Set([...WORDS, ...WORDS.map((word) => `${word}s`), 'toady', 'toddy'])
const LAST = /\b(?:las|lst|lats|alst|laast|lasst)(?= (?:week|month|year|night|quarter|weekend)\b)/gi
const MISSPELT_WEEK = /(?<=\b(?:last|this|past) )(?:wek|wekk|weeek|weak|weke)\b/gi

/** Contract: the text with the words for times spelt right; a word in doubt stays as it is. */
export function correctSpelling(text: string): string {
  return text
    .replace(LAST, 'last')
    .replace(MISSPELT_WEEK, 'week')
    .replaceAll(/(?<![\w/.-])[a-z]{4,12}(?![\w/.-])/gi, (word) => nearestWord(word.toLowerCase()) ?? word)
}

function nearestWord(word: string): string | undefined {
  if (RIGHT.has(word)) return undefined
  return WORDS.find((right) => Math.abs(right.length - word.length) <= 2 && isSlip(word, right))
}

/** One letter wrong, missing or too many, or two letters swapped; two such slips in a long word. */
function isSlip(word: string, right: string): boolean {
  if (word[0] !== right[0]) return false
  const distance = editDistance(word, right)
  if (distance <= (right.length >= 8 ? 2 : 1)) return true
  return distance === 2 && [...word].toSorted().join('') === [...right].toSorted().join('')
}
