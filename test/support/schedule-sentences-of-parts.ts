/** Sentences that name several days or several parts: each part is in the schedule, or the sentence is refused. */

import type { WrittenSchedule } from '../../src/schedule-words/reading.ts'

export type Sentence = readonly [sentence: string, meaning: WrittenSchedule | 'unclear' | 'no time']

export const SENTENCES_OF_PARTS: readonly Sentence[] = [
  // Several days of the month: none is left out
  ['每月15号和最后一天上午十点对账', '0 10 15,L * *'],
  ['每月最后一天和15号上午十点对账', '0 10 15,L * *'],
  ['每月1号、15号和月底上午十点', '0 10 1,15,L * *'],
  ['每月1、10和20号上午十点', '0 10 1,10,20 * *'],
  ['每月第一天和最后一天上午十点', '0 10 1,L * *'],
  ['每月15号和倒数第二天上午十点', 'unclear'],
  ['每月倒数第二天上午十点', 'unclear'],
  ['每月1到5号上午十点', 'unclear'],
  ['on the 15th and the last day of every month at 10', '0 10 15,L * *'],
  ['on the last day and the 15th of every month at 10', '0 10 15,L * *'],
  ['every month on the last day at 10', '0 10 L * *'],
  ['on the first, third and last Friday of every month at 10am', '0 10 * * 5#1; 0 10 * * 5#3; 0 10 * * 5L'],
  ['on the last day of every month and the 15th at 10', 'unclear'],
  ['the last Friday and the 15th of every month at 10', 'unclear'],
  ['on the second to last day of every month at 10', 'unclear'],
  ['on the last working day and the 15th of every month at 10', 'unclear'],
  ['on the last and first day of every month at 9', 'unclear'],
  // Parts with different days
  ['every weekday morning and every evening summarize slack', '0 9 * * 1-5; 0 18 * * *'],
  ['every evening and every weekday morning', '0 18 * * *; 0 9 * * 1-5'],
  ['every weekday morning and evening', '0 9,18 * * 1-5'],
  ['every morning and on Fridays at 5pm', '0 9 * * *; 0 17 * * 5'],
  ['every morning and every weekend evening', '0 9 * * *; 0 18 * * 0,6'],
  ['every weekday morning check mail and every evening summarize slack', 'unclear'],
  ['every weekday morning, every evening', 'unclear'],
  ['every weekday and every Sunday evening', 'unclear'],
  ['every Monday and every day at 9', 'unclear'],
  ['every morning and on the 1st of every month', 'unclear'],
  ['every 2 hours and every Monday', 'unclear'],
  ['每个工作日早上和每天晚上总结', '0 9 * * 1-5; 0 21 * * *'],
  ['每天早上以及每周日晚上总结', '0 9 * * *; 0 21 * * 0'],
  ['每天早上和每月1号晚上', '0 9 * * *; 0 21 1 * *'],
  ['每周一和每天晚上总结', 'unclear'],
  ['每两小时和每周一总结', 'unclear'],
  ['每天早上九点，周末十点', 'unclear'],
  ['每天早上八点和我说早安', '0 8 * * *'],
  // Days that we cannot know
  ['每年12月24日晚上六点说圣诞快乐', '0 18 24 12 *'],
  ['每年12月24日和元旦早上九点', 'unclear'],
  ['remind me on my birthday', 'unclear'],
  ['有空的时候整理下载目录', 'unclear'],
]
