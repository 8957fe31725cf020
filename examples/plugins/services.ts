import { definePlugin } from 'tireless'

/** Keeps a one-line summary of each finished run as a fact, and queues a task if a run failed. */
export default definePlugin({
  name: 'diary',
  needs: ['ai', 'memory', 'runtime'],
  start(host) {
    const [ai, memory, runtime] = [host.get('ai'), host.get('memory'), host.get('runtime')]
    runtime.on(async ({ phase, stage, run_id, payload }) => {
      if (phase !== 'END' || stage !== 'end') return
      const { status, prompt, result } = await runtime.status(run_id)
      if (status === 'failed') {
        const task = `Find out why this task failed, and write it to failed.md: ${prompt}`
        await runtime.enqueue({ task, key: `why ${run_id}` })
      } else {
        const { text } = await ai.chat(`In one line: ${prompt}\n${result}`, { system: 'You summarise.' })
        await memory.remember({ key: `run ${run_id}`, text: `${text} (${payload.stop_reason})` })
      }
    })
  },
})
