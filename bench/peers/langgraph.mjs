// LangGraph JS with its SQLite saver runs the loop of subjects/loop.ts: an agent node that returns a tool call, and a
// tool node. Plain JavaScript, so that the type check does not need the peers' packages.
//
// Equal conditions: `durability: 'sync'` (a step continues after its checkpoint is written) and `synchronous = FULL`
// (written means fsynced; the saver's default is weaker). The tool node is our own: the prebuilt one is slower.

import { join } from 'node:path'
import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages'
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite'
import Database from 'better-sqlite3'
import { serve } from '../meter.ts'
import { ANSWER, argsOf, resultOf, TASK, TOOL } from '../subjects/loop.ts'

const tools = { [TOOL]: ({ text }) => resultOf(text) }

function compile(steps, onStep, checkpointer) {
  const agent = async ({ messages }) => {
    const done = (messages.length - 1) / 2
    onStep()
    if (done === steps) return { messages: [new AIMessage(ANSWER)] }
    const call = { id: `call-${done + 1}`, name: TOOL, args: argsOf(done + 1), type: 'tool_call' }
    return { messages: [new AIMessage({ content: '', tool_calls: [call] })] }
  }
  const act = async ({ messages }) => ({
    messages: messages
      .at(-1)
      .tool_calls.map(({ id, name, args }) => new ToolMessage({ content: tools[name](args), tool_call_id: id, name })),
  })
  const wantsTools = ({ messages }) => (messages.at(-1).tool_calls?.length > 0 ? 'tools' : END)
  return new StateGraph(MessagesAnnotation)
    .addNode('agent', agent)
    .addNode('tools', act)
    .addEdge(START, 'agent')
    .addConditionalEdges('agent', wantsTools, ['tools', END])
    .addEdge('tools', 'agent')
    .compile({ checkpointer })
}

await serve(async ({ folder, sessions, steps, step, measure }) => {
  const db = new Database(join(folder, 'langgraph.db'))
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = FULL')
  const graph = compile(steps, step, new SqliteSaver(db))
  const run = (thread_id) =>
    graph.invoke(
      { messages: [new HumanMessage(TASK)] },
      { configurable: { thread_id }, durability: 'sync', recursionLimit: 2 * steps + 10 },
    )
  try {
    await measure(async () => {
      const ended = await Promise.all(Array.from({ length: sessions }, (_, i) => run(`thread-${i}`)))
      if (ended.some(({ messages }) => messages.length !== 2 * steps + 2)) throw new Error('a thread did not finish')
    })
    if (db.pragma('synchronous', { simple: true }) !== 2) throw new Error('the saver changed the durability')
  } finally {
    db.close()
  }
})
