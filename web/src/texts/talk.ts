/** Texts of the place Talk. */

const en = {
  placeholder: 'Give a task, or ask what happened',
}

const zh: typeof en = {
  placeholder: '交代一件事，或者问问发生了什么',
}

export const TALK_TEXTS = { en, zh }
