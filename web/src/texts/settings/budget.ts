/** Texts of the part Budget of Settings. */

const en = {
  intro: 'Limits hold whatever happens: money is set aside before it is spent. Empty means no limit.',
  today: (spent: string, calls: string) => `Today: ${spent}, ${calls} model calls.`,
  forecast: (amount: string) => `At this rate the month costs about ${amount} by its end.`,
  costs: 'See where the money goes',
  limits: 'Limits',
  more: 'More limits',
  names: {
    per_day_usd: 'A day, in US dollars',
    per_month_usd: 'A month, in US dollars',
    per_dispatch_usd: 'A task, in US dollars',
    per_dispatch_minutes: 'A task, in minutes',
    per_dispatch_calls: 'A task, in model calls',
    per_dispatch_tokens: 'A task, in tokens',
    per_agent_usd: 'An agent a day, in US dollars',
    per_agent_calls: 'An agent a day, in model calls',
    per_agent_tokens: 'An agent a day, in tokens',
    per_day_calls: 'A day, in model calls',
    per_day_tokens: 'A day, in tokens',
    per_kernel_usd: 'This kernel a day, in US dollars',
    per_kernel_calls: 'This kernel a day, in model calls',
    per_kernel_tokens: 'This kernel a day, in tokens',
  },
  noLimit: 'no limit',
  isDefault: 'This is the default.',
  noNumber: 'Enter a number above 0, or nothing for no limit.',
}

const zh: typeof en = {
  intro: '上限在任何情况下都有效：花钱之前先预留。留空表示不设上限。',
  today: (spent, calls) => `今天：${spent}，调用模型 ${calls} 次。`,
  forecast: (amount) => `照这样，到月底约花 ${amount}。`,
  costs: '看看钱花在哪里',
  limits: '上限',
  more: '更多上限',
  names: {
    per_day_usd: '每天（美元）',
    per_month_usd: '每月（美元）',
    per_dispatch_usd: '每个任务（美元）',
    per_dispatch_minutes: '每个任务（分钟）',
    per_dispatch_calls: '每个任务（模型调用次数）',
    per_dispatch_tokens: '每个任务（token）',
    per_agent_usd: '每个智能体每天（美元）',
    per_agent_calls: '每个智能体每天（模型调用次数）',
    per_agent_tokens: '每个智能体每天（token）',
    per_day_calls: '每天（模型调用次数）',
    per_day_tokens: '每天（token）',
    per_kernel_usd: '本内核每天（美元）',
    per_kernel_calls: '本内核每天（模型调用次数）',
    per_kernel_tokens: '本内核每天（token）',
  },
  noLimit: '不设上限',
  isDefault: '这是默认值。',
  noNumber: '请填写大于 0 的数字；留空表示不设上限。',
}

export const BUDGET_TEXTS = { en, zh }
