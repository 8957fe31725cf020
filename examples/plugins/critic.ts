import { type Critic, definePlugin } from 'tireless'

/** An answer must name its sources; after three reminders in a row, the run ends as failed. */
const sources: Critic = {
  name: 'sources',
  judge(_state, { decision, results }) {
    if (results.some(({ content }) => content.includes('quota exceeded')))
      return { kind: 'stop', reason: 'the quota of the search is used up', failure_class: 'budget' }
    if (decision.kind !== 'final' || /https?:\/\//.test(decision.answer)) return { kind: 'continue' }
    return { kind: 'retry', instruction: 'Name the addresses of your sources.' }
  },
}

export default definePlugin({
  name: 'named sources',
  needs: ['critics'],
  setup: (host) => host.get('critics').add(sources),
})
