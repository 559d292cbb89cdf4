"""Read traces with the PyTorch Profiler tab's own backend: ``read_as_tab.py FILE...``."""

import json
import sys
import tempfile

from torch_tb_profiler.profiler.data import RunProfileData
from torch_tb_profiler.profiler.run_generator import RunGenerator

told = []
for path in sys.argv[1:]:
    parsed = RunProfileData.parse("w", "1", path, tempfile.mkdtemp())
    run = RunGenerator("w", "1", parsed).generate_run_profile()
    operators = run.operation_table_by_name["data"] if run.operation_table_by_name else []
    kernels = run.kernel_table["data"]["rows"] if run.kernel_table else []
    costs = run.overview["performance"][0]["children"] if run.overview else []
    told.append(
        {
            "views": [view.name for view in run.views],
            "steps": list(parsed.steps_names or []),
            "calls": {row["name"]: row["calls"] for row in operators},
            "device_us": sum(row.get("device_self_duration") or 0 for row in operators),
            "kernels": sum(row[2] for row in kernels),
            "costs": {one["name"]: one["value"] for one in costs},
        }
    )
print("REPORT " + json.dumps(told))
