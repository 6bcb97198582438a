/* Makes reads of the files below a directory fail, for tests of failing disks.
 *
 * SIMTOOL_FAULT_BELOW is the directory, SIMTOOL_FAULT_READ the number of the read from which on all
 * fail, from 1, and SIMTOOL_FAULT_MARK a file that is made when one fails. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long reads;

static int fails(int file)
{
    const char *below = getenv("SIMTOOL_FAULT_BELOW");
    const char *number = getenv("SIMTOOL_FAULT_READ");
    const char *mark = getenv("SIMTOOL_FAULT_MARK");
    char link[64], path[4096];
    if (!below || !number || !mark)
        return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return 0;
    path[length] = 0;
    if (strncmp(path, below, strlen(below)) != 0)
        return 0;
    if (atomic_fetch_add(&reads, 1) + 1 < atol(number))
        return 0;
    close(open(mark, O_CREAT | O_WRONLY, 0600));
    errno = EIO;
    return 1;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t read(int file, void *out, size_t length)
{
    return fails(file) ? -1 : NEXT(read)(file, out, length);
}

ssize_t pread(int file, void *out, size_t length, off_t at)
{
    return fails(file) ? -1 : NEXT(pread)(file, out, length, at);
}

ssize_t pread64(int file, void *out, size_t length, off64_t at)
{
    return fails(file) ? -1 : NEXT(pread64)(file, out, length, at);
}

ssize_t readv(int file, const struct iovec *parts, int count)
{
    return fails(file) ? -1 : NEXT(readv)(file, parts, count);
}

ssize_t copy_file_range(int in, off64_t *from, int out, off64_t *to, size_t length, unsigned flags)
{
    return fails(in) ? -1 : NEXT(copy_file_range)(in, from, out, to, length, flags);
}
