/** Everything that programs can import from the library. */

export { defineConfig, type OwnerConfig } from './app/owner-config.ts'
export type { Registry } from './app/services.ts'
export { type App, type AppOptions, createApp } from './app.ts'
export type { Progress } from './commands/lib/progress.ts'
export type { CommandInput, CommandName, CommandOutput } from './commands/lib/registry.ts'
export type { Approval } from './domain/approval.ts'
export type { Call, CallResult, CallStatus, Decision, Issue, Next, Verdict } from './domain/decision.ts'
export { type CancelMode, type Dispatch, type DispatchStatus, isTerminal } from './domain/dispatch.ts'
export type { Effect, EffectReach as Reach, Recovery } from './domain/effect.ts'
export { type ErrorCode, TirelessError } from './domain/error.ts'
export type { Delta, Event, Phase } from './domain/event.ts'
export type { Fact, FactOrigin as Origin } from './domain/fact.ts'
export type { ModelAnswer, RequestedCall, Usage } from './domain/journal-record.ts'
export type { Json } from './domain/json.ts'
export type { Label, ResultLabel } from './domain/label.ts'
export type { ChannelMessage as Message, ChatMessage as Heard } from './domain/message.ts'
export type { Price } from './domain/money.ts'
export type { Observation } from './domain/observation.ts'
export type { FailureClass, StopReason } from './domain/stop-reason.ts'
export type { Resource } from './domain/task.ts'
export type { Wait, WaitMatch } from './domain/wait.ts'
export type {
  Ai,
  AiAnswer,
  AiMessage,
  AiOptions,
  FactMemory,
  FactToRemember,
  Runtime,
  TaskToEnqueue,
} from './ports/agent-services.ts'
export {
  type AfterBehaviour,
  type Behaviour,
  type BehaviourDefinition,
  type BehaviourEnd,
  type CompletedStep as Reduced,
  type Critic,
  defineBehaviour,
  type EnvView,
  type ProposedCall,
  type ProposedDecision as Wish,
  type StateShape,
  type SystemPrompt,
} from './ports/behaviour.ts'
export type { BranchCandidate as Candidate, BranchSearch as Search } from './ports/branch-search.ts'
export type { Bus, BusAction, BusSnapshot, Publication } from './ports/bus.ts'
export type { Channel, IncomingRequest as Incoming, ReceivedMessage as Received } from './ports/channel.ts'
export type { Clock } from './ports/clock.ts'
export { defineEvent, type EventType } from './ports/define-event.ts'
export { defineTool, inNamespace, type ToolDefinition } from './ports/define-tool.ts'
export type { Embedder } from './ports/embedder.ts'
export type { Env, EnvKind, EnvOpening, Envs, OpenedEnv, OpsGroup, OpsGroups } from './ports/env.ts'
export type { Gate, GatedCall, GateVerdict as Clearance } from './ports/gate.ts'
export type { Hook, HookContext, HookedPhase } from './ports/hook.ts'
export type { Ids } from './ports/ids.ts'
export type { Memory, MemoryKind, MemoryMessage, MemoryQuery, MemoryView, PastTurn } from './ports/memory.ts'
export type {
  GivenModel,
  Model,
  ModelMessage,
  ModelProvider,
  ModelRequest,
  ProviderModel,
  ToolSpec,
} from './ports/model.ts'
export type { ParsedAnswer as Parsed, Parser } from './ports/parser.ts'
export {
  definePlugin,
  type Plugin,
  type PluginFactory,
  type PluginHost,
  type PluginInput,
  type Services,
} from './ports/plugin.ts'
export type { FailedStep, RecoveryChoice, RecoveryRule } from './ports/recovery-rule.ts'
export type { RunEnding } from './ports/run-ending.ts'
export type { Source, SourceEvent, SourceSink } from './ports/source.ts'
export type { StopQuestion, StopRule } from './ports/stop-rule.ts'
export type { Store } from './ports/store.ts'
export type { AnyTool, ProbeResult, Tool, ToolContext } from './ports/tool.ts'
export type { FieldNames as Words } from './prompt-compiler/protocols/field-names.ts'
export { jsonParser } from './prompt-compiler/protocols/json.ts'
export { reactParser } from './prompt-compiler/protocols/react.ts'
export { xmlParser } from './prompt-compiler/protocols/xml.ts'
export type { TaskAnswer } from './run-task/answer-task.ts'
export { type AttachOptions, attachTask, startTask } from './run-task/start-task.ts'
export type {
  Criterion,
  Task,
  TaskEnd as Ending,
  TaskOptions,
  TaskResult,
} from './run-task/task.ts'
export type { TaskEvent } from './run-task/task-events.ts'
export type { TaskHandle, TaskStatus } from './run-task/task-handle.ts'
export type { TaskWait } from './run-task/task-wait.ts'
export { type RunTaskOptions, runTask } from './run-task.ts'
