// Questions as people type them: without punctuation, with slips, in spoken Chinese. Most were written before anybody
// looked at the rules, about ten after; all were then given the names of the home in past-home.ts.

import type { QuestionKind } from '../../src/past/question.ts'

export interface TypedQuestion {
  readonly question: string
  readonly kind: QuestionKind | null
  /** What the answer has to say, in any order. */
  readonly says: readonly RegExp[]
}

const q = (question: string, kind: QuestionKind | null, ...says: readonly RegExp[]): TypedQuestion => ({
  ...{ question, kind, says },
})

const TODAY = /12 November 2026.*: 5 runs/
const TODAY_ZH = /2026年11月12日星期四）：5 个任务/
const LAST_WEEK = /2 November 2026 to Sunday 8 November 2026.*: 3 runs/
const LAST_WEEK_ZH = /11月2日星期一至2026年11月8日星期日）：3 个任务/
const NOV_3 = /3 November 2026.*: 1 run.*\n.*Summarise the inbox/
const NOV_3_ZH = /11月3日星期二）?：1 个任务.*\n.*Summarise the inbox/
const AGENTS = /^There are 3 agents, 2 of them switched off; none is at work now/
const AGENTS_ZH = /^共有 3 个智能体，其中 2 个已停用/
const SCRIBE_NEXT = /^scribe runs next on Friday 13 November 2026, 09:00\.$/
const APPROVAL = /Send the newsletter — needs your approval/
const APPROVAL_ZH = /Send the newsletter — 需要你批准/
const OPEN = /^Open todos:\n(?=[\s\S]*T003 FAILED: Ask the supplier)(?=[\s\S]*T004 WAIT: Print labels — waits for T003)/
const OPEN_ZH = /^未完成的待办：\n(?=[\s\S]*T003 FAILED: Ask the supplier)[\s\S]*T004 WAIT: Print labels — 在等 T003/
const NO_IDEA = /^I did not understand the question\. You can ask/

export const TYPED_QUESTIONS: readonly TypedQuestion[] = [
  q('what did you do today', 'did', TODAY),
  q('What did you get done today?', 'did', TODAY),
  q('whatd you do today', 'did', TODAY),
  q('wat did u do today', 'did', TODAY),
  q('what did u do tody', 'did', TODAY),
  q('anything happen today?', 'did', TODAY),
  q('what have you been up to this week', 'did', /This week .*: 9 runs/),
  q('what happend last week', 'did', LAST_WEEK),
  q('what did you do lats week', 'did', LAST_WEEK),
  q('summarize last week for me', 'did', LAST_WEEK),
  q('what did you do on november 3rd?', 'did', NOV_3),
  q('What was done on 2026-11-03?', 'did', NOV_3),
  q('what did u do 3 nov', 'did', NOV_3),
  q('list everything you finished on the 3rd of november', 'did', NOV_3),
  q('did you do anything yesterday', 'did', /Yesterday .*: 2 runs/),
  q('what did you do yesteday', 'did', /Yesterday .*: 2 runs/),
  q('whatd you do on wendsday', 'did', /Wednesday 11 November 2026\): 2 runs/),
  q('what happened on 25 December 2025', 'did', /: nothing happened\. There were no runs and no cycles\.$/),
  q('did you check the backups', 'did', /^The last run:\n- 2026-11-04 11:00 keeper: Check the backups \(failed/),
  q('when did scribe last run', 'did', /^The last run:\n- 2026-11-12 12:00 scribe: Choose a logo/),
  q('which runs failed last week?', 'failed', /: 2 runs failed\./),
  q('did anything go wrong today', 'failed', /: 1 run failed\.\n.*Fetch the exchange rates/),
  q('今天你做了什么', 'did', TODAY_ZH),
  q('今天干了啥', 'did', TODAY_ZH),
  q('今儿都忙了些啥呀', 'did', TODAY_ZH),
  q('今天的任务都完成了吗', 'did', TODAY_ZH),
  q('上周你都做了哪些事', 'did', LAST_WEEK_ZH),
  q('上礼拜干了什么', 'did', LAST_WEEK_ZH),
  q('11月3号你做了什么', 'did', NOV_3_ZH),
  q('十一月三号干了啥', 'did', NOV_3_ZH),
  q('2026年11月3日做了哪些工作', 'did', NOV_3_ZH),
  q('昨天有没有做什么', 'did', /昨天.*：2 个任务/),
  q('有没有失败的任务', 'failed', /1 个任务失败/),
  q('今天出什么错了没', 'failed', /1 个任务失败。\n.*Fetch the exchange rates/),
  q('你上次什么时候检查备份', 'did', /^最近一次：\n- 2026-11-04 16:00 keeper: 检查备份/),
  q('how much did it cost today', 'cost', /\$0\.22\./),
  q('what did it cost?', 'cost', /^Thursday 12 November 2026: \$0\.22\./),
  q('how much money have you spent this week', 'cost', /\$0\.72\./),
  q('What did last week cost me', 'cost', /\$0\.28\./),
  q('how much did you spend on nov 3', 'cost', /\$0\.20\./),
  q('how much have I spent in total', 'cost', /\$1\.10\./),
  q('今天花了多少', 'cost', /\$0\.22。/),
  q('上周一共花了多少钱啊', 'cost', /\$0\.28。/),
  q('上周一花了多少钱', 'cost', /没有花钱/),
  q('11月3日用了多少钱', 'cost', /\$0\.20。/),
  q('what waits for me', 'waits', APPROVAL, /Which logo\?/, /3 todos are open, 1 failed \(tireless todo list\)/),
  q('do you need anything from me', 'waits', APPROVAL),
  q('is there anything i need to approve', 'waits', APPROVAL),
  q('anything pending for me?', 'waits', APPROVAL),
  q('什么在等我', 'waits', APPROVAL_ZH),
  q('有啥需要我处理的吗', 'waits', APPROVAL_ZH),
  q('你在等什么', 'waits', APPROVAL_ZH),
  q('why did you write prices.csv', 'why', /Raise the pear price/, /Update the price list/),
  q('why did the backup check fail', 'why', /ended with the error: the run reached its limit of 1 steps/),
  q('why did you delete junk.txt', 'why', /^I found no run that the question could mean\.$/),
  q('why did T003 fail', 'why', /T003 FAILED: Ask the supplier — failed once\n {2}“the supplier did not answer”/),
  q('你为什么写了 prices.csv', 'why', /Raise the pear price/, /Update the price list/),
  q('为啥那个备份失败了', 'why', /检查备份/),
  q('what changed in prices.csv', 'changed', /-pear,2\n {2}\+pear,3/),
  q('what did you change in PRICES.csv last week', 'changed', /^No run wrote prices\.csv \(Last week/),
  q('did you touch weekly.md today', 'changed', /Write the weekly report/),
  q('weekly.md 最近谁动过', 'changed', /Write the weekly report/),
  q('how many agents are there', 'agents', AGENTS),
  q('How many agents do I have?', 'agents', AGENTS),
  q('which agents are running', 'agents', AGENTS),
  q('有几个代理', 'agents', AGENTS_ZH),
  q('一共有多少个agent', 'agents', AGENTS_ZH),
  q('when does keeper run next', 'next', /^keeper is switched off; no run is planned\./),
  q('when is the next run of scribe?', 'next', SCRIBE_NEXT),
  q('when will scribe run again', 'next', SCRIBE_NEXT),
  q('whens scribe next', 'next', SCRIBE_NEXT),
  q('when does gardener run next', 'next', /^There is no agent named gardener\. Agents: scribe, clerk, keeper\.$/),
  q('scribe 下次什么时候跑', 'next', /^scribe 下次运行：2026年11月13日星期五 09:00。$/),
  q('keeper 什么时候再运行', 'next', /^keeper 已停用/),
  q('园丁什么时候运行', 'next', /^没有叫 园丁 的智能体/),
  q('what is left to do', 'todos', OPEN, /T001 WAIT: Sort the minutes/, /Besides, 3 matters wait for you/),
  q("what's still open", 'todos', OPEN),
  q('is everything done?', 'todos', OPEN),
  q('what is open in the shop', 'todos', OPEN, /^In all 4 todos: 2 open \(1 failed\), 2 done \(1 proved\)\.$/m),
  q('what is open in the garden', 'todos', /^I know no plan named “garden”\. There are todos in: .*shop/),
  q('which todos failed', 'todos', /^Failed todos:\n.*\n- T003 FAILED: Ask the supplier — failed once/),
  q('which todos failed last week', 'todos', /^Last week .*:\nNo todo has failed\.$/m),
  q(
    'what has been proved',
    'todos',
    /T001 DONE \(proved\): List the fruit\n- T002 DONE \(asserted\): .* — only asserted/,
  ),
  q('还有什么没做完', 'todos', OPEN_ZH),
  q('还剩哪些待办', 'todos', OPEN_ZH),
  q('shop 里还有什么没做完', 'todos', OPEN_ZH, /^共 4 项待办/m),
  q('哪些待办失败了', 'todos', /^失败的待办：\n.*\n- T003 FAILED/),
  q('哪些已经验证过了', 'todos', /T001 DONE \(proved\)/, /T002 DONE \(asserted\): Count the crates — 只是声称/),
  q('who won the world cup', null, NO_IDEA),
  q('what is the weather', null, NO_IDEA),
  q('what did Napoleon do in 1812', 'did', /^There is no agent named Napoleon\./),
  q('今天天气怎么样', null, /^我没有看懂这个问题/),
]
