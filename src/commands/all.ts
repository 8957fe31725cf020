/** Every verb there is. */

import { backup, restore } from './backup.ts'
import type { Command } from './command.ts'
import { configCheck, configExplain, configSchema } from './config.ts'
import { doctor } from './doctor.ts'
import { logs } from './logs.ts'
import { enqueue, queueList, queueShow } from './queue.ts'
import { run } from './run.ts'
import { send, sessionsList, sessionsShow } from './sessions.ts'
import { start } from './start.ts'
import { status } from './status.ts'
import { unknownsList, unknownsResolve } from './unknowns.ts'

export const COMMANDS = [
  run,
  start,
  enqueue,
  send,
  status,
  queueList,
  queueShow,
  sessionsList,
  sessionsShow,
  unknownsList,
  unknownsResolve,
  configCheck,
  configExplain,
  configSchema,
  doctor,
  logs,
  backup,
  restore,
] as unknown as readonly Command[]
