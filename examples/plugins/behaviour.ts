import { defineBehaviour, definePlugin } from 'tireless'

/** Asks the model for a draft, then for a better one, and ends with the second. */
const twice = defineBehaviour<{ task: string; drafts: string[] }>({
  name: 'twice',
  tools: [],
  initState: (task) => ({ task, drafts: [] }),
  buildSystemPrompt: () => 'You write short texts. Answer with the text alone.',
  prepare: ({ task, drafts }) =>
    drafts.length === 0 ? `Write: ${task}` : `Make it better, and shorter:\n${drafts.at(-1)}`,
  reduce(state, { decision }) {
    if (decision.kind === 'final') state.drafts.push(decision.answer)
    return state
  },
  next: ({ drafts }, { answer }) =>
    drafts.length < 2 ? { kind: 'stay', feedback: 'once more' } : { kind: 'end', answer },
})

export default definePlugin({
  name: 'twice',
  needs: ['behaviours'],
  setup: (host) => host.get('behaviours').add(twice),
})
