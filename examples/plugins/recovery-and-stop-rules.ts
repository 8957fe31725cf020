import { definePlugin, type RecoveryRule, type StopRule } from 'tireless'

/** The provider of this home is often down for a while: wait longer than usual, then try the same turn again. */
const waitLonger: RecoveryRule = {
  name: 'wait longer',
  decide({ code, attempt }) {
    return code === 'model_unavailable' ? { kind: 'retry', after_ms: attempt * 60_000 } : undefined
  },
}

/** A run that asks for the same thing twice has a problem that another turn does not solve. */
const enoughErrors: StopRule = {
  name: 'enough errors',
  check({ step, used }) {
    const failed = step.results.filter(({ status }) => status === 'error')
    if (failed.length < 2) return undefined
    return { reason: `${failed.length} calls of step ${used.steps} failed`, failed: true }
  },
}

export default definePlugin({
  name: 'rules',
  needs: ['recoveryRules', 'stopRules'],
  setup(host) {
    host.get('recoveryRules').add(waitLonger)
    host.get('stopRules').add(enoughErrors)
  },
})
