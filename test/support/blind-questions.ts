// Forty questions about the past, written before there was any code that reads them, and never changed to suit it.
// Now is Thursday 12 November 2026, 15:00 in Berlin; test/support/past-home.ts has what happened until then.

export interface BlindQuestion {
  question: string
  kind: 'did' | 'cost' | 'waits' | 'why' | 'changed' | 'failed' | 'next'
  /** Local days of the period, both included; none where the question names none. */
  days?: [string, string]
}

const WEEK: [string, string] = ['2026-11-09', '2026-11-15']
const LAST_WEEK: [string, string] = ['2026-11-02', '2026-11-08']
const TODAY: [string, string] = ['2026-11-12', '2026-11-12']
const YESTERDAY: [string, string] = ['2026-11-11', '2026-11-11']

export const BLIND_QUESTIONS: BlindQuestion[] = [
  { question: 'So what have you been up to today?', kind: 'did', days: TODAY },
  { question: 'Did you get anything done yesterday?', kind: 'did', days: YESTERDAY },
  { question: 'What happened on Tuesday?', kind: 'did', days: ['2026-11-10', '2026-11-10'] },
  { question: 'Anything I need to look at?', kind: 'waits' },
  { question: 'How much money did you burn last week?', kind: 'cost', days: LAST_WEEK },
  { question: "Is there something you're stuck on because of me?", kind: 'waits' },
  { question: 'Why did the backup check fail?', kind: 'why' },
  { question: 'Tell me what you did the day before yesterday.', kind: 'did', days: ['2026-11-10', '2026-11-10'] },
  { question: 'Which files did you touch this week?', kind: 'changed', days: WEEK },
  { question: 'Who changed prices.csv and when?', kind: 'changed' },
  { question: "What's the total spend so far this month?", kind: 'cost', days: ['2026-11-01', '2026-11-30'] },
  { question: 'Give me a rundown of the past 3 days', kind: 'did', days: ['2026-11-10', '2026-11-12'] },
  { question: 'Were there any problems this morning?', kind: 'failed', days: TODAY },
  { question: 'What are you going to do next?', kind: 'next' },
  { question: 'Have any tasks gone wrong since Monday?', kind: 'failed', days: ['2026-11-09', '2026-11-12'] },
  { question: 'Summarize your work from November 2 to November 4', kind: 'did', days: ['2026-11-02', '2026-11-04'] },
  { question: 'What was the bill for October?', kind: 'cost', days: ['2026-10-01', '2026-10-31'] },
  { question: 'What did scribe do on 3 November?', kind: 'did', days: ['2026-11-03', '2026-11-03'] },
  { question: "what's waiting on my approval", kind: 'waits' },
  { question: 'Do you know why you wanted to send the newsletter?', kind: 'why' },
  { question: '你今天都干了些什么?', kind: 'did', days: TODAY },
  { question: '昨天有进展吗?', kind: 'did', days: YESTERDAY },
  { question: '前天你在忙啥', kind: 'did', days: ['2026-11-10', '2026-11-10'] },
  { question: '有什么需要我拍板的吗', kind: 'waits' },
  { question: '上个星期花了多少钱?', kind: 'cost', days: LAST_WEEK },
  { question: '这周烧了多少美元', kind: 'cost', days: WEEK },
  { question: '备份检查怎么失败的?', kind: 'why' },
  { question: 'prices.csv 最近三天动过吗', kind: 'changed', days: ['2026-11-10', '2026-11-12'] },
  { question: '今天早上出了什么岔子', kind: 'failed', days: TODAY },
  { question: '接下来你打算做什么', kind: 'next' },
  { question: '我有没有什么没批的', kind: 'waits' },
  { question: '把最近三天的工作汇报一下', kind: 'did', days: ['2026-11-10', '2026-11-12'] },
  { question: '周一以来有哪些任务没成功', kind: 'failed', days: ['2026-11-09', '2026-11-12'] },
  { question: '11月3号你写了哪些文件', kind: 'changed', days: ['2026-11-03', '2026-11-03'] },
  { question: '十月的账单是多少', kind: 'cost', days: ['2026-10-01', '2026-10-31'] },
  { question: '为什么要整理会议纪要?', kind: 'why' },
  { question: '上周三做了什么', kind: 'did', days: ['2026-11-04', '2026-11-04'] },
  { question: '从11月2日到11月4日你完成了哪些任务', kind: 'did', days: ['2026-11-02', '2026-11-04'] },
  { question: '昨晚有没有干活', kind: 'did' },
  { question: '哪个文件这周被改过', kind: 'changed', days: WEEK },
]
