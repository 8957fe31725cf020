/** Texts of the calendar of agents. */

const en = {
  empty: 'Nothing is planned in the next seven days. Make an agent that runs at certain times, or switch one on.',
  today: 'Today',
  allDay: 'All day long',
  perDay: (count: string) => `${count} × a day`,
  onChange: (agents: string) => `${agents}: only if something has changed`,
  resident: (hz: string) => `whenever something is new, at most ${hz === '1' ? 'once' : `${hz} ×`} a second`,
  nothing: 'nothing at a certain time',
  crowded: (due: number, most: number) => `${due} due at once; ${most} run at a time, the others wait`,
  crowdedCount: (hours: number) => (hours === 1 ? '1 crowded hour' : `${hours} crowded hours`),
  likely: (usd: string) => `about ${usd}`,
  spent: (usd: string) => `${usd} spent`,
  ofCap: (cap: string) => `of ${cap}`,
  overCap: 'over the limit of the day',
  overCapDays: 'Days with a red bar would be over the limit: their later runs would wait.',
  noCap: 'no limit set',
  guessed: 'Costs are a forecast. Agents that have not run yet are estimated from their prompts.',
  zone: (zone: string) => `Times are yours. The days of the budget are those of ${zone}.`,
  more: 'There are more than can be shown.',
}

const zh: typeof en = {
  empty: '未来七天没有安排。新建一个定时运行的智能体，或启用已有的。',
  today: '今天',
  allDay: '全天',
  perDay: (count) => `每天 ${count} 次`,
  onChange: (agents) => `${agents}：只在有变化时运行`,
  resident: (hz) => `有新情况就看，每秒最多 ${hz} 次`,
  nothing: '没有定时的运行',
  crowded: (due, most) => `同时有 ${due} 个到点；一次只能运行 ${most} 个，其余等待`,
  crowdedCount: (hours) => `${hours} 个拥挤的小时`,
  likely: (usd) => `约 ${usd}`,
  spent: (usd) => `已花 ${usd}`,
  ofCap: (cap) => `上限 ${cap}`,
  overCap: '超过当天上限',
  overCapDays: '红色的日子会超过上限：当天之后的运行会等待。',
  noCap: '未设上限',
  guessed: '花费为预估。还没有运行过的智能体按提示词估算。',
  zone: (zone) => `时间按你所在的时区。预算按 ${zone} 的日期计算。`,
  more: '还有更多，未全部显示。',
}

export const CALENDAR_TEXTS = { en, zh }
