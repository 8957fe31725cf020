/** Texts of the place Needs you. */

const en = {
  empty: 'Nothing needs you.',
}

const zh: typeof en = {
  empty: '没有需要你处理的事项。',
}

export const NEEDS_TEXTS = { en, zh }
