/** The vocabulary that the Chinese tables share, and times of day in Chinese. Pure. */

import { CHINESE_NUMBER as N, readNumber } from './numerals.ts'
import type { PartOfDay, SaidTime, TimeToken, TokenRule } from './tokens.ts'

export const rule = <Token>(source: string, read: TokenRule<Token>['read']): TokenRule<Token> => ({
  pattern: new RegExp(source, 'yu'),
  read,
})

export function unclearWords(why: (text: string) => string, harmless_beside?: 'time' | 'anything'): TokenRule['read'] {
  return ([text]): TimeToken => ({ kind: 'unclear', why: why(text), harmless_beside })
}

export const CHINESE_PARTS: Readonly<Record<string, PartOfDay>> = {
  ...{ 凌晨: 'dawn', 深夜: 'dawn', 半夜: 'dawn', 清晨: 'morning', 早晨: 'morning', 早上: 'morning', 清早: 'morning' },
  ...{
    大清早: 'morning',
    一大早: 'morning',
    晌午: 'noon',
    一早: 'morning',
    早: 'morning',
    上午: 'morning',
    中午: 'noon',
    正午: 'noon',
    午间: 'noon',
  },
  ...{ 下午: 'afternoon', 午后: 'afternoon', 傍晚: 'evening', 夜里: 'night', 夜间: 'night' },
  ...{ 晚上: 'after_dark', 晚间: 'after_dark', 夜晚: 'after_dark', 晚: 'after_dark' },
}
export const CHINESE_PART =
  '(?:凌晨|大清早|一大早|晌午|清晨|早晨|早上|清早|一早|上午|中午|正午|午间|下午|午后|傍晚|晚上|晚间|夜晚|夜里|夜间|深夜|半夜)'
/** 八点整 is 8:00; 八点整理 is 8:00 and a verb. */
const SHARP = '整(?![理顿合体改个天夜晚洁治修套备数年月周])'
export const CHINESE_CLOCK = `(?:${N}\\s*(?:点钟|点|时(?!间))(?:半|一刻|三刻|${SHARP}|过?${N}分?)?|\\d{1,2}:\\d\\d)`
export const CHINESE_DAY = '[一二三四五六日天]'
export const CHINESE_AND = '\\s*(?:、|和|及|以及|与|跟|还有|,|，|\\/)?\\s*'
export const CHINESE_TO = '\\s*(?:到|至|-|~|—|～)\\s*'
/** Units of an interval; 月 and 年 have no fixed length. */
export const CHINESE_UNIT = '(?:秒钟?|分钟|刻钟|个?小时|个?钟头|天|日|个?星期|个?礼拜|周)'
export const CHINESE_AMOUNT = `(?:半|${N}个半|\\d+\\.\\d+|${N})`

/** Contract: undefined if the text is no time of day. */
export function readChineseTime(text: string): SaidTime | undefined {
  const digital = /^(\d{1,2}):(\d\d)$/.exec(text)
  if (digital) return checkTime(Number(digital[1]), Number(digital[2]), /^0\d/.test(text))
  const [, hours = '', rest = ''] = /^(.+?)\s*(?:点钟|点|时)(.*)$/u.exec(text) ?? []
  const hour = readNumber(hours)
  return hour === undefined ? undefined : checkTime(hour, readMinutes(rest), /^0\d/.test(hours))
}

function readMinutes(rest: string): number {
  if (rest === '' || rest === '整') return 0
  if (rest === '半') return 30
  if (rest.endsWith('刻')) return rest.startsWith('一') ? 15 : 45
  return readNumber(rest.replace(/^过/, '').replace(/分$/, '')) ?? 60
}

function checkTime(hour: number, minute: number, padded: boolean): SaidTime | undefined {
  return hour > 24 || minute > 59 ? undefined : { hour, minute, exact: padded || hour > 12 || hour === 0 }
}

const ZERO = `零点(?:${SHARP}|钟)?(?!\\d|[一二三四五半])`
const timeAt =
  (hour: number): TokenRule['read'] =>
  () => ({ kind: 'time', times: [{ hour, minute: 0, exact: true }] })

const partOf: TokenRule['read'] = ([part]) => ({ kind: 'part', parts: [CHINESE_PARTS[part] ?? 'morning'] })

export const CHINESE_TIMES: readonly TokenRule[] = [
  rule(`午夜(?:十二点|12点|零点)?|${ZERO}|子夜`, timeAt(0)),
  rule('正午(?:十二点|12点)?', timeAt(12)),
  rule(
    `差(?:${N}分|一刻)?钟?\\s*(?:到)?${CHINESE_CLOCK}`,
    unclearWords((text) => `请把“${text}”写成几点几分`),
  ),
  rule('早晚(?=各|都)', () => ({ kind: 'part', parts: ['morning', 'after_dark'] })),
  rule(`[早晚](?=${CHINESE_CLOCK})`, partOf),
  rule(CHINESE_PART, partOf),
  rule(CHINESE_CLOCK, ([text]) => {
    const time = readChineseTime(text)
    return time ? { kind: 'time', times: [time] } : { kind: 'unclear', why: `“${text}”不是一个钟点` }
  }),
]
