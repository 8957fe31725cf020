/** Why a sentence is refused, in both languages. Pure. */

import type { Language } from '../domain/language.ts'

export type Reason = Readonly<Record<Language, string>>

/** Words that a table refuses are quoted in their own language; they need no other. */
export const sameText = (text: string): Reason => ({ en: text, zh: text })

export const REASONS = {
  twoIntervals: (texts: string): Reason => ({
    en: `there are two intervals: ${texts}`,
    zh: `有两个间隔：${texts}`,
  }),
  windowAlone: (): Reason => ({
    en: 'a span of time needs an interval, such as "every 30 minutes from 9:00 to 17:00"',
    zh: '一段时间还需要间隔，例如“九点到十七点每半小时”',
  }),
  unpaired: (): Reason => ({
    en: 'it is unclear which time belongs to which day; name one schedule',
    zh: '看不出哪个钟点属于哪一天，请只写一个时间表',
  }),
  noDays: (): Reason => ({ en: 'no days were understood', zh: '没有看懂是哪些日子' }),
  tooMany: (): Reason => ({
    en: 'these are too many different times; use an interval',
    zh: '钟点太多，请改用间隔',
  }),
  noInterval: (text: string): Reason => ({ en: `"${text}" is no interval`, zh: `“${text}”不是间隔` }),
  apartFromInterval: (interval: string, other: string): Reason => ({
    en: `"${interval}" and "${other}" do not go together; name the times, or only the interval`,
    zh: `“${interval}”和“${other}”不能同时用，请只写钟点或只写间隔`,
  }),
  twoWindows: (): Reason => ({ en: 'there are two spans of time', zh: '有两段时间' }),
  unclearDays: (): Reason => ({ en: 'which days are meant is unclear', zh: '看不出是哪些日子' }),
  intervalInDay: (): Reason => ({
    en: 'this interval does not fit into a day; name the times instead',
    zh: '这个间隔不能整除一天，请写出钟点',
  }),
  noSpan: (text: string): Reason => ({
    en: `"${text}" is no span within a day; write it as 9:00 to 17:00`,
    zh: `“${text}”不是一天之内的一段时间，请写成 9:00 到 17:00`,
  }),
  countWithoutTimes: (text: string): Reason => ({
    en: `"${text}" does not say at which times; name them, such as "every day at 9:00 and 17:00"`,
    zh: `“${text}”没有说几点，请写出来，例如“每天 9:00 和 17:00”`,
  }),
  midnight: (): Reason => ({
    en: 'midnight belongs to two days; write the day that begins then, and 0:01',
    zh: '午夜属于两天，请写新的一天和 0:01',
  }),
  unclearException: (): Reason => ({ en: 'which days are left out is unclear', zh: '看不出除去哪些日子' }),
  twoPeriods: (periods: readonly string[]): Reason => ({
    en: `"every ${periods.join('" and "every ')}" do not go together`,
    zh: '有两个不同的周期，请只写一个',
  }),
  onceOrRepeating: (): Reason => ({
    en: 'it is unclear whether this repeats; write "every day at …", or a date for once',
    zh: '看不出是每天还是一次，请写“每天……”，一次的请写日期',
  }),
  weeklyOrOnce: (text: string): Reason => ({
    en: `"${text}" can be every week or once; write "every ${text.replace(/^on /i, '')}", or a date`,
    zh: `“${text}”可以是每周，也可以是一次，请写“每${text}”或日期`,
  }),
  weekdayOfMonth: (text: string): Reason => ({
    en: `"${text}" is a day of the week; which one of the month is meant?`,
    zh: `“${text}”是每周的日子，请说明是当月第几个`,
  }),
  monthlyOrOnce: (text: string): Reason => ({
    en: `"${text}" can be every month or once; write "${text} of every month", or a date`,
    zh: `“${text}”可以是每月，也可以是一次，请写“每月${text}”或日期`,
  }),
  onceInRepeating: (text: string): Reason => ({
    en: `"${text}" is one moment, but the sentence says that it repeats`,
    zh: `“${text}”只有一次，但这句话说的是重复`,
  }),
  twoDaySets: (text: string): Reason => ({
    en: `"${text}" and "every day" or "every week" do not go together; name one schedule`,
    zh: `“${text}”和“每天”“每周”不能同时用，请只写一个时间表`,
  }),
  daysOfQuarter: (): Reason => ({
    en: 'days of a quarter have no schedule; name the months',
    zh: '季度里的日子没有对应的时间表，请写出月份',
  }),
  severalDays: (): Reason => ({
    en: 'this names more than one day; write one date and one time',
    zh: '这里有不止一天，请写一个日期和一个钟点',
  }),
  severalTimes: (): Reason => ({ en: 'this names more than one time', zh: '这里有不止一个钟点' }),
  delayAndTime: (text: string): Reason => ({
    en: `"${text}" and a time do not go together`,
    zh: `“${text}”和钟点不能同时用`,
  }),
  timeMissing: (): Reason => ({
    en: 'the time is missing; write "today at 17:00"',
    zh: '没有说几点，请写“今天 17:00”',
  }),
  hasPassed: (at: string): Reason => ({ en: `${at} has passed`, zh: `${at} 已经过了` }),
  noDay: (text: string): Reason => ({ en: `"${text}" is no day`, zh: `“${text}”不是日子` }),
  twoDates: (text: string, first: string, second: string): Reason => ({
    en: `"${text}" can be ${first} or ${second}; write the date`,
    zh: `“${text}”可以是 ${first} 或 ${second}，请写日期`,
  }),
  mixedHalves: (): Reason => ({
    en: 'some of the times are in 12 hours and some are not; write all of them as 09:00',
    zh: '有的钟点分上下午，有的不分，请都写成 09:00',
  }),
  descending: (): Reason => ({
    en: 'the times do not ascend, so morning and afternoon are unclear; write them as 09:00',
    zh: '钟点不是从早到晚，分不清上下午，请写成 09:00',
  }),
  hourMissing: (): Reason => ({
    en: 'the hour is missing; write it, such as 03:00',
    zh: '没有说几点，请写出来，例如 03:00',
  }),
  noTime: (text: string): Reason => ({ en: `${text} is no time of day`, zh: `${text} 不是钟点` }),
  wrongPart: (time: string): Reason => ({
    en: `${time} does not fit the part of the day`,
    zh: `${time} 和上午、下午等说法对不上`,
  }),
  twoHours: (hour: number, early: string, late: string): Reason => ({
    en: `the hour ${hour} can mean ${early} or ${late}; write one of them`,
    zh: `${hour} 点可以是 ${early} 或 ${late}，请写其中一个`,
  }),
  tooLong: (most: number): Reason => ({
    en: `the text is longer than ${most} characters`,
    zh: `文字超过 ${most} 个字符`,
  }),
  looseNumber: (text: string): Reason => ({
    en: `the number after "${text}" may be an hour; write it as "at 9:00"`,
    zh: `“${text}”后面的数字可能是钟点，请写成 9:00`,
  }),
  apart: (first: string, second: string): Reason => ({
    en: `"${first}" and "${second}" do not stand together; name one schedule, and only that`,
    zh: `“${first}”和“${second}”不在一起，请只写一个时间表`,
  }),
  choice: (word: string): Reason => ({
    en: `"${word}" between the times leaves a choice; name one schedule`,
    zh: `时间之间的“${word}”有两种可能，请只写一个时间表`,
  }),
  leftOver: (text: string): Reason => ({
    en: `"${text}" is not understood; write the time as 09:00, without a zone`,
    zh: `没有看懂“${text}”，请把钟点写成 09:00，不写时区`,
  }),
} as const
