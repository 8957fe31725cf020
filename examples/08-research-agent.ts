// Run it: node_modules/.bin/node examples/08-research-agent.ts
import { defineBehaviour, defineEvent, defineTool, startTask } from 'tireless'
import { z } from 'zod'

const published = defineEvent('published', z.object({ title: z.string() }))

const search = defineTool({
  name: 'search_papers',
  description: 'Finds papers on a topic',
  args: z.object({ topic: z.string() }),
  effect: { recovery: 'pure', reach: 'none' },
  run: ({ topic }) => `${topic}: a survey`,
})

/** Searches once, then waits for the next paper, for a day at most. */
const researcher = defineBehaviour({
  name: 'researcher',
  tools: ['search_papers'],
  initState: { notes: [] as string[] },
  decide({ notes }, observation) {
    if (notes.length === 0) return { kind: 'act', calls: [{ tool: 'search_papers', args: { topic: 'sleep' } }] }
    const paper = published.read(observation)
    return paper ? { kind: 'final', answer: `${notes}, then ${paper.title}` } : published.wait({ reason: 'a paper' })
  },
  reduce: ({ notes }, { results }) => ({ notes: [...notes, ...results.map(({ content }) => content)] }),
})

const home = process.env.TIRELESS_HOME ?? './.tireless'
const options = { home, key: 'sleep-2026', tools: [search], behaviours: [researcher] }
const task = await startTask({ objective: 'What is new about sleep?', behaviour: 'researcher' }, options)
const wait = await task.waiting() // the program may end here; with the same key, the next one continues the task
if (wait?.reason === 'published') await task.send(published, { title: 'Dreams of agents' })
console.log((await task.result()).answer)
