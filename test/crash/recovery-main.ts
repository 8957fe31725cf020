/** The process that dies: recovery-main.ts HOME LOG EFFECT-AS-JSON DEATH [PROBE] */

import { runTask } from '../../src/library.ts'
import { acting, actOnce, type Death } from './recovery-tools.ts'

const [home = '', log = '', effect = '', death = 'never', probe] = process.argv.slice(2)
const tool = acting(log, JSON.parse(effect), death as Death, probe as 'honest' | 'unclear' | undefined)
await runTask('act', { home, tools: [tool], model: actOnce() })
