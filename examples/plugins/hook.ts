import { definePlugin, type Hook } from 'tireless'

/** Counts the steps and errors of each run, and reports them at its end. */
function countingHook(report: (line: string) => void): Hook {
  const steps = new Map<string, { steps: number; errors: number }>()
  const countOf = (run: string) => steps.get(run) ?? steps.set(run, { steps: 0, errors: 0 }).get(run)
  return {
    name: 'counting',
    on_after_act({ run_id, error }) {
      const count = countOf(run_id)
      if (count) count.steps += 1
      if (count && error !== undefined) count.errors += 1
    },
    on_run_end({ run_id, stop_reason }) {
      const { steps: n = 0, errors = 0 } = countOf(run_id) ?? {}
      report(`${stop_reason}: ${n} steps, ${errors} errors`)
      steps.delete(run_id)
    },
  }
}

export default definePlugin({
  name: 'counting',
  needs: ['hooks', 'log'],
  setup(host) {
    const log = host.get('log')
    host.get('hooks').add(countingHook((line) => log.write('info', 'run counted', { line })))
  },
})
