/** Every verb there is. */

import { approvalsAllow, approvalsDeny, approvalsList, approvalsShow } from './approvals.ts'
import { backup, restore } from './backup.ts'
import type { Command } from './command.ts'
import { compare } from './compare.ts'
import { configCheck, configExplain, configSchema } from './config.ts'
import { doctor } from './doctor.ts'
import { logs } from './logs.ts'
import { memoryForget, memoryList, memorySearch } from './memory.ts'
import { modelsList, modelsTest, modelsUse } from './models.ts'
import { enqueue, queueCancel, queueList, queuePause, queueResume, queueShow } from './queue.ts'
import { replay } from './replay.ts'
import { run } from './run.ts'
import { send, sessionsList, sessionsShow } from './sessions.ts'
import { start } from './start.ts'
import { status } from './status.ts'
import { traceExport, traceList, traceShow } from './trace.ts'
import { unknownsList, unknownsResolve } from './unknowns.ts'

export const COMMANDS = [
  run,
  start,
  enqueue,
  send,
  status,
  queueList,
  queueShow,
  queueCancel,
  queuePause,
  queueResume,
  sessionsList,
  sessionsShow,
  approvalsList,
  approvalsShow,
  approvalsAllow,
  approvalsDeny,
  unknownsList,
  unknownsResolve,
  modelsList,
  modelsTest,
  modelsUse,
  memoryList,
  memorySearch,
  memoryForget,
  traceList,
  traceShow,
  traceExport,
  compare,
  replay,
  configCheck,
  configExplain,
  configSchema,
  doctor,
  logs,
  backup,
  restore,
] as unknown as readonly Command[]
