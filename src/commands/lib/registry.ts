/** All commands, in the order of the help text. */

import { agentDisable, agentEdit, agentEnable, agentList, agentNew } from '../agents.ts'
import { approvalsAllow, approvalsDeny, approvalsList, approvalsShow, grantsList, grantsRevoke } from '../approvals.ts'
import { attach } from '../attach.ts'
import { auditVerify } from '../audit.ts'
import { backup, restore } from '../backup.ts'
import { budgetSet, budgetShow } from '../budget.ts'
import { channelsList, channelsPair, channelsTest, channelsUnpair, noticesList } from '../channels.ts'
import { compare } from '../compare.ts'
import { configCheck, configExplain, configSchema } from '../config.ts'
import { cycleNow, cyclesList, once, pause, resume, stop } from '../cycles.ts'
import { doctor } from '../doctor.ts'
import { init } from '../init.ts'
import { logs } from '../logs.ts'
import { mcpApprove, mcpList, mcpServe, mcpTest } from '../mcp.ts'
import { memoryForget, memoryList, memorySearch } from '../memory.ts'
import { modelsList, modelsTest, modelsUse } from '../models.ts'
import { enqueue, queueCancel, queueList, queuePause, queueResume, queueRetry, queueShow } from '../queue.ts'
import { replay } from '../replay.ts'
import { run } from '../run.ts'
import { scheduleAdd, scheduleList, schedulePause, scheduleRemove, scheduleResume, scheduleRun } from '../schedule.ts'
import { secretsList, secretsRemove, secretsSet } from '../secrets.ts'
import { send, sessionsArchive, sessionsList, sessionsShow } from '../sessions.ts'
import { simulate } from '../simulate.ts'
import { skillsApprove, skillsList, skillsScan } from '../skills.ts'
import { start } from '../start.ts'
import { stateAccept, stateDiff, stateLog, stateRevert, stateShow } from '../state.ts'
import { status } from '../status.ts'
import { traceExport, traceList, traceShow } from '../trace.ts'
import { unknownsList, unknownsResolve } from '../unknowns.ts'
import type { Command } from './command.ts'

export const COMMANDS = [
  init,
  run,
  start,
  once,
  pause,
  resume,
  stop,
  cycleNow,
  cyclesList,
  agentNew,
  agentList,
  agentEdit,
  agentEnable,
  agentDisable,
  enqueue,
  send,
  status,
  queueList,
  queueShow,
  queueRetry,
  queueCancel,
  queuePause,
  queueResume,
  sessionsList,
  sessionsShow,
  sessionsArchive,
  scheduleList,
  scheduleAdd,
  schedulePause,
  scheduleResume,
  scheduleRun,
  scheduleRemove,
  simulate,
  approvalsList,
  approvalsShow,
  approvalsAllow,
  approvalsDeny,
  grantsList,
  grantsRevoke,
  auditVerify,
  unknownsList,
  unknownsResolve,
  channelsList,
  channelsTest,
  channelsPair,
  channelsUnpair,
  noticesList,
  budgetShow,
  budgetSet,
  modelsList,
  modelsTest,
  modelsUse,
  skillsList,
  skillsScan,
  skillsApprove,
  secretsSet,
  secretsList,
  secretsRemove,
  mcpList,
  mcpTest,
  mcpApprove,
  mcpServe,
  stateShow,
  stateLog,
  stateDiff,
  stateRevert,
  stateAccept,
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
  attach,
  backup,
  restore,
] as unknown as readonly Command[]
