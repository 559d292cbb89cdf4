/* The answers of a host without an NPU.  Every other CANN function returns 0 (success). */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void *handle(void) { static char pool[1 << 16]; static unsigned next; return &pool[next++ % sizeof pool]; }

const char *aclrtGetSocName(void) { return "Ascend910B1"; }
const char *aclGetRecentErrMsg(void) { return ""; }
int aclrtGetDeviceCount(uint32_t *n) { *n = 1; return 0; }
static int current;
int aclrtSetDevice(int32_t device) { current = device; return 0; }
int aclrtGetDevice(int32_t *device) { *device = current; return 0; }
int aclrtGetVersion(int32_t *a, int32_t *b, int32_t *c) { *a = 1; *b = 14; *c = 0; return 0; }

int aclrtCreateStream(void **s) { *s = handle(); return 0; }
int aclrtCreateStreamWithConfig(void **s, uint32_t priority, uint32_t flag) { *s = handle(); return 0; }
int aclrtCreateStreamV2(void **s, void *config) { *s = handle(); return 0; }
int aclrtCtxGetCurrentDefaultStream(void **s) { *s = handle(); return 0; }
int aclrtCreateEvent(void **e) { *e = handle(); return 0; }
int aclrtCreateEventWithFlag(void **e, uint32_t flag) { *e = handle(); return 0; }
int aclrtCreateEventExWithFlag(void **e, uint32_t flag) { *e = handle(); return 0; }
int aclrtCreateContext(void **c, int32_t device) { *c = handle(); return 0; }
static char context;
int aclrtGetCurrentContext(void **c) { *c = &context; return 0; }
int aclrtQueryEventStatus(void *e, int32_t *status) { *status = 1; return 0; }
int aclrtQueryEventWaitStatus(void *e, int32_t *status) { *status = 1; return 0; }
int aclrtQueryEvent(void *e, int32_t *status) { *status = 1; return 0; }
int aclrtStreamQuery(void *s, int32_t *status) { *status = 1; return 0; }
int aclrtEventElapsedTime(float *ms, void *a, void *b) { *ms = 0.001f; return 0; }

static int take(void **p, size_t n) { *p = aligned_alloc(512, (n + 511) / 512 * 512 + 512); return *p ? 0 : 207001; }
int aclrtMalloc(void **p, size_t n, int policy) { return take(p, n); }
int aclrtMallocAlign32(void **p, size_t n, int policy) { return take(p, n); }
int aclrtMallocWithCfg(void **p, size_t n, int policy, void *cfg) { return take(p, n); }
int aclrtMallocHost(void **p, size_t n) { return take(p, n); }
int aclrtMallocHostWithCfg(void **p, size_t n, void *cfg) { return take(p, n); }
int aclrtFree(void *p) { free(p); return 0; }
int aclrtFreeHost(void *p) { free(p); return 0; }
int aclrtMemcpy(void *d, size_t room, const void *s, size_t n, int kind) { if (d && s) memcpy(d, s, n); return 0; }
int aclrtMemcpyAsync(void *d, size_t room, const void *s, size_t n, int kind, void *st) { if (d && s) memcpy(d, s, n); return 0; }
int aclrtMemset(void *d, size_t room, int32_t v, size_t n) { if (d) memset(d, v, n); return 0; }
int aclrtMemsetAsync(void *d, size_t room, int32_t v, size_t n, void *st) { if (d) memset(d, v, n); return 0; }
int aclrtGetMemInfo(int attr, size_t *room, size_t *total) { *room = (size_t)32 << 30; *total = (size_t)64 << 30; return 0; }
int aclrtReserveMemAddress(void **p, size_t n, size_t align, void *want, uint64_t flags) {
  *p = mmap(0, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return *p == MAP_FAILED ? 207001 : 0;
}
int aclrtMallocPhysical(void **h, size_t n, void *prop, uint64_t flags) { *h = handle(); return 0; }

void *aclCreateDataBuffer(void *p, size_t n) { return handle(); }
void *aclCreateTensorDesc(int t, int n, const int64_t *d, int f) { return handle(); }
void *aclopCreateAttr(void) { return handle(); }
size_t aclGetCompileoptSize(int option) { return 2; }
int aclGetCompileopt(int option, char *value, size_t n) { if (n) { value[0] = '1'; if (n > 1) value[1] = 0; } return 0; }
