/** Texts of the place Runs. */

const en = {
  empty: 'Runs appear here once your agent has worked.',
}

const zh: typeof en = {
  empty: '智能体工作后，运行记录会出现在这里。',
}

export const RUNS_TEXTS = { en, zh }
