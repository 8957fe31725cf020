/** Chinese words about time that say nothing of a schedule: they belong to the task, or cannot be understood. Pure. */

import { CHINESE_CLOCK, CHINESE_DAY, CHINESE_PART, rule, unclearWords } from './chinese-words.ts'
import { CHINESE_NUMBER as N, readNumber } from './numerals.ts'
import type { TimeToken, TokenRule } from './tokens.ts'

const aside: TokenRule['read'] = () => ({ kind: 'aside' })
const LENGTH = '个?(?:小时|天|日|周|月|年|分钟|秒|季度)'
const NOUNS = '(?:建议|意见|要求|看法|想法|心得|原因|理由|结论|注意|收获|内容|要点|问题|经验)'

/** Times that the task is about. */
const MENTIONS: readonly TokenRule[] = [
  rule('[“"「《][^”"」》]*[”"」》]', aside),
  rule('关于[^，。！？,.!?]{0,24}', aside),
  rule(`(?:昨天|昨日|昨晚|前天|前一天|去年|今年|本月|当月|当天|当日|当周|本年度?)(?:的|${CHINESE_PART})?`, aside),
  rule(`上(?:个|一)?(?:周|月|季度|年)${CHINESE_DAY}?的?`, aside),
  rule(`(?:本周|这周|这个周|这个月)(?!${CHINESE_DAY}|末)的?`, aside),
  rule(`(?:过去|最近|近|前|这)(?:的)?(?:${N}|几)?${LENGTH}(?!${CHINESE_DAY}|末)(?:内|里|的)*`, aside),
  rule('(?:今天|今日|明天|明日|后天)的|今日|近期|日报|周报|月报|年报|季报|日志|日程|周刊|日记|时间|小时工', aside),
  rule('(?:圣诞|春节|元旦|中秋|国庆|端午|新年|情人|母亲|父亲)节?(?:快乐|愉快|贺卡|祝福|礼物)', aside),
  rule('每日(?=站会|例会|早会|新闻|名言|单词)', aside),
  rule(`(?:超过|少于|不到|大于|小于|至少|最多|长达|持续|大约需?要?)${N}${LENGTH}`, aside),
  rule(`${N}${LENGTH}(?:以内|之内|以上|以前|之前|以来|内|前|的|游)`, aside),
  rule(`${N}点(?=${NOUNS})`, aside),
]

/** How often or when, in words that no clock knows. */
const VAGUE: readonly TokenRule[] = [
  rule(
    '(?:有空|有时间|得空|闲下来|空闲|不忙)(?:的时候|时|了|的话|就)|(?:我|他|她|你|妈妈?|爸爸?)的?生日(?:那天|当天|时)?|' +
      '生日(?:那天|当天|的时候|时)|纪念日(?:那天|当天|时)?',
    unclearWords((text) => `“${text}”没有对应的日子，请写出日期和钟点`),
  ),
  rule(
    '(?:北京|东京|纽约|伦敦|太平洋|东部|当地|UTC|GMT)(?:标准)?时间?',
    unclearWords((text) => `时间按内核的时区理解，请去掉“${text}”并换算`),
  ),
  rule(
    '经常|定期|时不时|不定期|随时|一直|不断|偶尔|有时候?|反复|全天|整天|24小时不?间?断?|隔三差五|三天两头',
    unclearWords((text) => `“${text}”没有说明多久一次，请写成“每两小时”这样的说法`),
  ),
  rule(
    '早中晚|早、中、晚|一日三餐|上下班|(?:上|下)班(?:前|后|时)?|(?:午|早|晚)(?:饭|餐|休)(?:前|后|时)?|午休|睡前|睡觉前|' +
      '起床后?|日出|日落|天亮|天黑|早晚(?!各|都|上|间|\\d)',
    unclearWords((text) => `“${text}”不是钟点，请写出几点`, 'time'),
  ),
  rule(
    '农历|节假?日|春节|国庆节?|除夕|假期|中秋节?|端午节?|清明节?|元宵节?|元旦|五一|圣诞节?|情人节|母亲节|父亲节|劳动节|' +
      '七夕|重阳节?|年三十|大年|满月|(?:每个?)?月初|年初|年底|年末|季末|周初|月中|[上中下]旬',
    unclearWords((text) => `“${text}”没有对应的日子，请写出具体日期`),
  ),
  rule(
    `从?(?:今天|明天|后天|下周${CHINESE_DAY}?|下个?月|${N}月${N}[号日]?|${N}[号日])(?:开始|起)|直到|截止|为止`,
    unclearWords((text) => `时间表不能有开始或结束的日子，请去掉“${text}”`),
  ),
  rule(
    '(?:每逢?)?(?:单|双)(?:周|号|日)|周中|每小时的?第|提前',
    unclearWords((text) => `没有看懂“${text}”，请写出具体的日子和钟点`),
  ),
  rule(
    `${N}月(?:份)?(?:到|至|-)${N}月(?:份)?|每年${N}月(?!${N}[号日])`,
    unclearWords((text) => `“${text}”：月份请用 --schedule 写 cron 行`),
  ),
  rule(
    '(?:删|取消|关掉|停掉|去掉)[^，。]{0,12}(?:提醒|闹钟|任务)|把[^，。]{0,30}(?:提醒|闹钟|任务)[^，。]{0,6}(?:删|取消|关|停|去掉)',
    unclearWords((text) => `“${text}”是要去掉什么；请用 tireless agent list，再用 agent disable`),
  ),
  rule(
    `${CHINESE_CLOCK}(?:之?前|之?后|以前|以后)`,
    unclearWords((text) => `“${text}”不是一个时刻，请写出几点`),
  ),
]

function readCount([text, times = '']: RegExpExecArray): TimeToken {
  const count = readNumber(times) ?? 0
  const per = /天|日/.test(text) ? 'day' : /周/.test(text) ? 'week' : 'other'
  if (count !== 1) return { kind: 'count', count, per }
  return {
    kind: 'period',
    period: /月/.test(text) ? 'month' : /年/.test(text) ? 'year' : per === 'week' ? 'week' : 'day',
  }
}

const COUNTS: readonly TokenRule[] = [rule(`(?:每?一?(?:天|日|周|个?月|年))\\s*(${N})\\s*(?:次|遍|回)`, readCount)]

export const CHINESE_ASIDES: readonly TokenRule[] = [...MENTIONS, ...VAGUE, ...COUNTS]
