/** Numbers in words and digits, English and Chinese, as they occur in times and dates: 0 to 99. Pure. */

const ONES = [
  ...['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve'],
  ...['thirteen', 'fourteen', 'fifteen', 'sixteen', 'seventeen', 'eighteen', 'nineteen'],
]
const TENS = ['twenty', 'thirty', 'forty', 'fifty']
const ORDINALS = [
  ...['first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth', 'ninth', 'tenth', 'eleventh'],
  ...['twelfth', 'thirteenth', 'fourteenth', 'fifteenth', 'sixteenth', 'seventeenth', 'eighteenth', 'nineteenth'],
]
const HAN_DIGITS = '零一二三四五六七八九'

/** Longer words first, so that "seventeen" is not read as "seven". */
const longestFirst = (words: readonly string[]): string => [...words].sort((a, b) => b.length - a.length).join('|')

/** Sources of regular expressions, without groups. */
const TENS_AND_ONES = `(?:${TENS.join('|')})(?:[ -](?:${ONES.slice(1, 10).join('|')}))?`
export const ENGLISH_NUMBER = `(?:\\d{1,4}|${TENS_AND_ONES}|${longestFirst(ONES)})`
export const CHINESE_NUMBER = '(?:\\d{1,4}|[零〇一二两三四五六七八九十廿]{1,3})'
const LARGE_ORDINAL = `(?:twenty|thirty)[ -](?:${ORDINALS.slice(0, 9).join('|')})|twentieth|thirtieth`
export const ENGLISH_ORDINAL = `(?:\\d{1,2}(?:st|nd|rd|th)|${LARGE_ORDINAL}|${longestFirst(ORDINALS)})`

/** Contract: undefined if the text is no number of the kinds above. */
export function readNumber(text: string): number | undefined {
  const word = text.trim().toLowerCase().replace(/^an?$/, 'one')
  if (/^\d+$/.test(word)) return Number(word)
  return readEnglish(word) ?? readChinese(word)
}

function readEnglish(word: string): number | undefined {
  const one = ONES.indexOf(word)
  if (one >= 0) return one
  const [tens = '', ones = 'zero'] = word.split(/[ -]/)
  const ten = TENS.indexOf(tens)
  return ten < 0 ? undefined : (ten + 2) * 10 + ONES.indexOf(ones)
}

function readChinese(word: string): number | undefined {
  const plain = word.replaceAll('两', '二').replaceAll('〇', '零').replaceAll('廿', '二十')
  const [, tens, , ones = ''] = /^([一二三四五六七八九]?)(十)?([零一二三四五六七八九]?)$/.exec(plain) ?? []
  if (tens === undefined || plain === '') return plain.startsWith('零') ? readChinese(plain.slice(1)) : undefined
  const unit = ones === '' ? 0 : HAN_DIGITS.indexOf(ones)
  if (plain.includes('十')) return (tens === '' ? 1 : HAN_DIGITS.indexOf(tens)) * 10 + unit
  // Two digits without 十, such as 四五 in 九点四五, are read one after the other.
  return tens === '' ? unit : ones === '' ? HAN_DIGITS.indexOf(tens) : HAN_DIGITS.indexOf(tens) * 10 + unit
}

/** Amounts of a unit: also "1.5", "half an", "two and a half", 一个半, 半. */
export function readAmount(text: string): number | undefined {
  const word = text.trim().toLowerCase()
  if (/^\d+\.\d+$/.test(word)) return Number(word)
  if (/^half\b|^半$/.test(word)) return 0.5
  const [, whole] = /^(.+?)(?: and a half|个半)$/.exec(word) ?? []
  const number = readNumber(whole ?? word)
  return number === undefined ? undefined : number + (whole === undefined ? 0 : 0.5)
}

/** "1st", "first", "twenty-third"; undefined if the text is no ordinal. */
export function readOrdinal(text: string): number | undefined {
  const word = text.trim().toLowerCase()
  const digits = /^(\d{1,2})(?:st|nd|rd|th)$/.exec(word)?.[1]
  if (digits !== undefined) return Number(digits)
  const single = ORDINALS.indexOf(word)
  if (single >= 0) return single + 1
  if (word === 'twentieth') return 20
  if (word === 'thirtieth') return 30
  const [tens = '', ones = ''] = word.split(/[ -]/)
  const ten = TENS.indexOf(tens)
  const one = ORDINALS.indexOf(ones)
  return ten < 0 || one < 0 ? undefined : (ten + 2) * 10 + one + 1
}
